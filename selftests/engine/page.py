#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The page of srpol-fabricd as a browser shows it, and the server under clients
that do not behave. The engine has the sanitizers of selftests/engine.
"""

import http.client
import json
import os
import re
import signal
import socket
import sys
import threading
import time

import browser
import engine
import forecasts
import functions
from engine import OUT, RUN, ask, check, store_put, wait_for

STORE = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
EVIL = "<img src=x onerror=alert(1)>"
# What is said with status 503.
BUSY, FULL = b"too much is asked for\n", b"too many listen already\n"


class Page:
    """An engine with a page, on a port of its own."""

    def __init__(self, name, **more):
        self.port = engine.free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.process = engine.start_engine(
            name, STORE, page=f"127.0.0.1:{self.port}", **more)
        wait_for("leader", lambda: ask(name, "show")["leads"])

    def get(self, path, method="GET", body=None, headers=None):
        """
        What takes work is refused when it took too long within a second, as it does
        if the machine makes a pause: asked again, like a browser or scraper.
        """
        end = time.monotonic() + engine.PATIENCE
        while True:
            answer, text = self.once(path, method, body, headers)
            if text != BUSY or time.monotonic() > end:
                return answer, text
            time.sleep(0.1)

    def once(self, path, method="GET", body=None, headers=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        c.request(method, path, body=body, headers=headers or {})
        answer = c.getresponse()
        text = answer.read()
        c.close()
        return answer, text

    def state(self):
        return json.loads(self.get("/api/state")[1])

    def socket(self, text=""):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        s.sendall(text.encode())
        return s


def link(leaf, spine, capacity):
    return {"from": leaf, "to": spine, "capacity": capacity}


def report(host, number, *links):
    store_put(f"link/0/leaf0.0/{host}",
              json.dumps({"number": number, "links": links}))


# --- the server

def test_requests(page):
    for path, kind in (("/", "text/html"), ("/page.js", "text/javascript"),
                       ("/page.css", "text/css"), ("/draw.js", "text/javascript"),
                       ("/icon.svg", "image/svg"), ("/api/state", "application/json"),
                       ("/api/block?tier=leaf&block=0", "application/json")):
        answer, text = page.get(path)
        check(f"{path} is served as {kind}", answer.status == 200 and text and
              answer.headers["Content-Type"].startswith(kind), answer.status)
    policy = page.get("/")[0].headers["Content-Security-Policy"]
    check("a strict policy goes with it",
          "default-src 'none'" in policy and "unsafe" not in policy, policy)
    html = page.get("/")[1].decode()
    check("nothing is loaded from anywhere else",
          not re.search(r"(src|href)=\"(https?:)?//", html))

    for path in ("/x", "/page.html", "/../etc/passwd", "/%2e%2e/etc/passwd",
                 "/api/", "/api/block", "/api/block?tier=leaf&block=99",
                 "/api/block?tier=host&block=0", "/api/block?tier=leaf&block=-1",
                 "/api/block?tier=leaf&block=4294967296",
                 "/api/block?tier=leaf&block=0x",
                 "/api/block?tier=&block="):
        check(f"{path}: 404", page.get(path)[0].status == 404)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        answer = page.get("/", method, b"x" * 1000)[0]
        check(f"{method}: 405, and what is allowed", answer.status == 405 and
              answer.headers["Allow"] == "GET, HEAD", answer.status)
    answer, text = page.get("/", "HEAD")
    check("HEAD: headers only", answer.status == 200 and not text)
    check("a URL of 600 bytes is refused",
          page.get("/" + "x" * 600)[0].status == 414)
    status = page.get("/" + "x" * 20000)[0].status
    check("a URL longer than a request may be is refused",
          status in (413, 414, 431), status)
    check("another site's name does not lead to the page",
          page.get("/api/state", headers={"Host": "evil.example"})[0].status == 421)
    check("localhost does", page.get("/api/state", headers={
        "Host": f"localhost:{page.port}"})[0].status == 200)
    with page.socket("GARBAGE\r\n\r\n\0\0") as s:
        answer = s.recv(100)
    check("garbage is refused",
          answer == b"" or b" 4" in answer.split(b"\r\n")[0] or
          b" 505" in answer.split(b"\r\n")[0], answer)
    check("five requests in one go get five answers",
          wait_for("five answers", lambda: five(page)))


def five(page):
    """Whether five requests in one go are answered, none of them as one too much."""
    with page.socket("GET /api/state HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5) as s:
        text = b""
        while text.count(b"HTTP/1.1 200") < 5:
            more = s.recv(65536)
            if not more or BUSY in text:
                return False
            text += more
    return True


def epoch_follows(number):
    """The engine plans as if nobody were there."""
    before = ask("page", "show")["epoch"]
    report("h0", number, link("leaf0.0", "spine0.1",
                              100000000000 * (1 + number % 3)))
    wait_for("an epoch", lambda: ask("page", "show")["epoch"] > before)


def left_open(page):
    """Connections that others have closed, and the engine not yet."""
    with open(f"/proc/{page.process.p.pid}/net/tcp", encoding="ascii") as f:
        return sum(line.split()[1].endswith(f":{page.port:04X}") and
                   line.split()[3] == "08" for line in f)


EVENTS = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_full(page):
    """As many as there is room for, and more; all of them leave at once."""
    crowd = [page.socket("GET / HTTP/1.1\r\nX-Slow: ") for _ in range(300)]
    time.sleep(1)
    page.process.p.send_signal(signal.SIGSTOP)
    for s in crowd:
        s.close()
    page.process.p.send_signal(signal.SIGCONT)
    try:
        status = page.get("/api/state")[0].status
    except OSError as why:
        status = why
    check("when a crowd leaves at once the page is there for others",
          status == 200, status)


def test_crowd(page):
    slow = [page.socket("GET / HTTP/1.1\r\nX-Slow: ") for _ in range(100)]
    epoch_follows(101)
    check("a hundred that do not finish their request do not stop the engine",
          page.get("/api/state")[0].status == 200)
    for s in slow:
        s.close()
    deaf = [listener(page) for _ in range(200)]
    check("two hundred listen", all(deaf), deaf.count(None))
    answer, text = page.get("/api/events")
    check("one more is told that there are too many", answer.status == 503 and
          text == FULL, answer.status)
    for number in range(102, 112):
        epoch_follows(number)
    check("two hundred that read nothing do not stop the engine",
          page.get("/api/state")[0].status == 200)
    for s in deaf:
        s.close()
    wait_for("places are free", lambda: not left_open(page) and listens(page))
    check("when they are gone others may listen", True)


def test_flood(page):
    """Those who ask for what takes work, as often as they can."""
    statuses, enough = set(), threading.Event()

    def ask_on():
        while not enough.is_set():
            for path in ("/metrics", "/api/block?tier=leaf&block=0"):
                try:
                    statuses.add(page.once(path)[0].status)
                except (OSError, http.client.HTTPException) as why:
                    statuses.add(str(why))

    askers = [threading.Thread(target=ask_on) for _ in range(32)]
    for t in askers:
        t.start()
    for number in range(112, 117):
        epoch_follows(number)
    wait_for("a refusal", lambda: 503 in statuses)
    enough.set()
    for t in askers:
        t.join()
    check("a flood of requests does not stop the engine, it is told 503",
          statuses == {200, 503}, statuses)


def listener(page):
    """Who listens, None if there are too many; who was one too much tries again."""
    def attempt():
        s = page.socket(EVENTS)
        text = b""
        while b"200 OK" not in text:
            more = s.recv(4096)
            text += more
            if not more or BUSY in text or FULL in text:
                s.close()
                return [None] if FULL in text else None
        return [s]
    return wait_for("an answer", attempt)[0]


def listens(page):
    s = listener(page)
    if s:
        s.close()
    return s is not None


# --- the page

def focused(b):
    return b.js("""(() => { const e = document.activeElement;
        return [e.tagName, e.id, e.getAttribute("aria-label") ?? e.textContent.slice(0, 40)].join(" ") })()""")


def test_no_room(page):
    """A browser that comes when there is no room has it later."""
    deaf = []

    def full():
        s = listener(page)
        deaf.extend([s] if s else [])
        return not s and len(deaf) == 200

    wait_for("no room", full)
    b = browser.Browser(f"{OUT}/late.log")
    try:
        b.go(page.url)
        b.wait("document.getElementById('live')?.textContent === 'not connected'")
        check("without room for it the page says that it is not connected", True)
        for s in deaf:
            s.close()
        b.wait("document.querySelectorAll('.tile').length === 16")
        check("and shows the fabric once there is room, without a reload", True)
    finally:
        b.end()
    wait_for("places are free", lambda: not left_open(page))


def test_shows(page, b):
    b.size(1280, 900)
    b.go(page.url)
    b.wait("document.querySelectorAll('.tile').length === 16")
    check("the page draws every switch and link of a small fabric",
          b.js("document.querySelectorAll('#plot line').length") == 32)
    b.wait("document.getElementById('live').textContent === 'live'")
    check("and says that it is up to date", True)
    check("nothing is down", b.js("document.querySelectorAll('line.down').length") == 0)
    report("h0", 201, link("leaf0.0", "spine0.2", 0))
    b.wait("document.querySelectorAll('line.down').length === 1")
    b.wait("document.getElementById('failures').textContent.includes('leaf0.0 – spine0.2')")
    check("a link that is cut is drawn and told, without a reload", True)
    check("it is said who reported it",
          "h0, " in b.js("document.getElementById('failures').textContent"))
    b.wait("document.getElementById('change').textContent.includes('Link leaf0.0 – spine0.2: 400 Gbit/s → down')")
    check("what the epoch changed has its cause, and weights before and after",
          "15:15:0:15" in b.js("document.getElementById('change').textContent"))
    check("the title says it too", b.js("document.title").startswith("(1 down)"))
    report("h0", 202, *(link(f"leaf0.{i}", "spine0.2", 0) for i in range(4)))
    b.wait("document.getElementById('failures').textContent.includes('spine0.2: all of its 4 links down')")
    check("a spine that lost all its links is named", True)
    report("h0", 203)
    b.wait("document.querySelectorAll('line.down').length === 0")
    check("links that came back are drawn so", True)


def test_load(page, b):
    check("without loads the page says so", "No host says what it sends." in
          b.js("document.getElementById('load').textContent"))
    topology = page.state()["engine"]["topology"]
    with open(f"{RUN}/topology.json") as f:
        cables = json.load(f)["links"]
    n = page.state()["counts"]["links"]
    # those of NICs come first, and are not all this host's
    store_put("load/0/leaf0.0/h0", json.dumps(
        {"topology": topology, "rest": 0,
         "links": [[i, 300_000_000] for i in range(2 * (n - len(cables)), 2 * n)]}))
    b.wait("document.getElementById('load').textContent.includes('of the traffic off the plan')")
    check("measured loads are told beside the plan, without a reload",
          "1 host of 4 say" in b.js("document.getElementById('load').textContent"),
          b.js("document.getElementById('load').textContent"))
    check("lines are as wide as their load",
          b.js("document.querySelectorAll('#plot line.u4').length") == len(cables))
    check("tiles tell it too", b.js(
        "document.querySelector('.tile').title").count("carries 75 % now") == 1,
          b.js("document.querySelector('.tile').title"))
    store_put("load/0/leaf0.0/h0", json.dumps(
        {"topology": topology, "links": [], "rest": 0}))
    b.wait("document.querySelectorAll('#plot line.u4').length === 0")
    check("and when it ends, so does that", True)


def test_foreseen(page, b):
    """Functions of the topology, forecasts of hosts; on the page and for scrapers."""
    text = "document.getElementById('%s').textContent"
    check("functions of switches are told", all(
        word in b.js(text % "functions")
        for word in ("sum", "spine0.1", "aggregate", "leaf0.3", "zip", "none")),
          b.js(text % "functions"))
    check("without forecasts the page says so",
          "No host foresees anything." in b.js(text % "forecasts"))
    # no job may announce the pair
    store_put("job/t/a", json.dumps(
        {"all-to-all": {"hosts": ["h0", "h3"], "bytes": 1 << 30}}))
    store_put("demand/0/leaf0.1/h1", forecasts.word(
        "page", "h1", forecasts.demand("h2", 5 * 10 ** 9)))
    b.wait(f"({text % 'forecasts'}).includes('5 GB in the plan: 1 of 1 demand that 1 host foresees')")
    check("what a host foresees is told, without a reload", True)
    _, metrics = page.get("/metrics")
    check("and to scrapers", all(line in metrics.decode() for line in (
        'srpol_fabric_forecasts{state="planned"} 1\n',
        'srpol_fabric_forecasts{state="covered"} 0\n',
        'srpol_fabric_forecasts{state="waits"} 0\n',
        "srpol_fabric_forecast_bytes 5000000000\n")),
          [line for line in metrics.decode().splitlines() if "forecast" in line])
    store_put("demand/0/leaf0.1/h1", "none of it")
    wait_for("the refusal", lambda: b"srpol_fabric_forecasts_refused_total 1\n" in
             page.get("/metrics")[1])
    check("what is wrong is counted", True)


def test_bandwidth(page, b):
    """Reservations, of which one has less than it wants."""
    text = "document.getElementById('jobs').textContent"
    engine.ask("page", "tenant-add", name="red", color=10, guaranteed=10 ** 12,
               priority=7)
    pair = [{"src": "h2", "dst": "h3", "bytes": 1 << 30}]
    for name, more in (("low", {"guaranteed": "800G", "least": "100G"}),
                       ("high", {"guaranteed": "300G", "priority": 5})):
        wait_for(name, lambda: engine.ask("page", "job-add", name=name, tenant="red",
                                          demands=pair, **more)["decision"] ==
                 "accept")
    b.wait(f"({text}).includes('500 Gbit/s of 800 Gbit/s') && "
           f"({text}).includes('300 Gbit/s')")
    check("what jobs have of what they want is told", True)
    wait_for("both, for scrapers", lambda: all(line in page.get("/metrics")[1].decode()
                                               for line in (
        'srpol_fabric_reservations{state="reserved"} 2\n',
        'srpol_fabric_reservations{state="waiting"} 0\n',
        "srpol_fabric_lowered_reservations 1\n")))
    check("and to scrapers", True)
    for name in "high", "low":
        engine.ask("page", "job-del", name=name, tenant="red")


def test_flows(page, b):
    text = "document.getElementById('change').textContent"
    store_put("job/t/two", json.dumps({"demands": [
        {"src": "h0", "dst": "h1", "bytes": 1 << 30}], "flows": 2}))
    b.wait(f"({text}).includes('Job t/two began')")
    check("what the epoch changed of flows is told", all(
        word in b.js(text) for word in (
            "paths of flows between 1 pair of GPUs changed",
            "h0 rail 0", "h1 rail 0", "none0:1, 4:1")), b.js(text))
    change = page.state()["change"]
    check("and in the state", change["n_flows"] == 1 and
          sum(p["flows"] for p in change["flows"][0]["after"]) == 2, change)


def test_escaped(page, b):
    store_put(f"job/{EVIL.replace('/', '')}/<b>x<", engine.JOB)
    b.wait("document.getElementById('jobs').textContent.includes('<b>x<')")
    check("names of jobs and tenants are text, whatever they hold",
          b.js("document.querySelectorAll('main img, #jobs b').length") == 0 and
          b.js(f"document.getElementById('jobs').textContent.includes({json.dumps(EVIL)})"))


def test_keyboard(page, b):
    b.go(page.url)
    b.wait("document.querySelectorAll('#failures p').length > 0")
    stops = []
    for _ in range(40):
        b.key("Tab")
        stop = focused(b)
        if stop in stops or stop.startswith("BODY"):
            break
        stops.append(stop)
    reached = b.js("""[...document.querySelectorAll("a, .scroll, .tiles")].length""")
    check("Tab reaches links, tables, and each tier once",
          len(stops) == reached, f"{stops} of {reached}")
    check("first of all, past the header", "Skip" in stops[0], stops)
    check("what has the focus is seen to have it", b.js(
        """(() => { const t = document.querySelector(".tile"); t.focus({ focusVisible: true });
        return getComputedStyle(t).outlineStyle })()""") == "solid")
    seen = {focused(b)}
    for _ in range(7):
        b.key("ArrowRight")
        seen.add(focused(b))
    check("arrows reach every switch of a tier", len(seen) == 8, seen)
    b.key("Home")
    b.key("ArrowRight")
    check("Home is the first one", "spine0.1" in focused(b), focused(b))
    b.key("Enter")
    b.wait("document.querySelectorAll('#detail tbody tr').length === 4")
    check("Enter selects: its links are told",
          b.js("document.querySelector('#detail strong').textContent") == "spine0.1")


def test_looks(page, b):
    for dark in (False, True):
        b.size(1280, 900, dark)
        b.wait("document.querySelectorAll('.tile').length > 0")
        b.shot(f"{OUT}/page-{'dark' if dark else 'light'}.png")
        contrast = b.js(CONTRAST)
        check(f"text has contrast of 4.5 or more ({'dark' if dark else 'light'})",
              contrast[0] >= 4.5, contrast)
    for width in (320, 360, 768):
        b.size(width, 740)
        b.wait("document.querySelectorAll('.tile').length > 0")
        wide = b.js("document.documentElement.scrollWidth")
        check(f"{width} pixels: nothing to scroll sideways", wide <= width, wide)
    b.size(360, 740)
    b.shot(f"{OUT}/page-phone.png")


# The least contrast of any text against what is behind it.
CONTRAST = """(() => {
	const parse = c => c.match(/[\\d.]+/g).map(Number);
	const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 :
		((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
	let least = [99, ""];

	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length)
			continue;
		let back = e;
		while (back && (parse(getComputedStyle(back).backgroundColor)[3] ?? 1) === 0)
			back = back.parentElement;
		const a = light(parse(getComputedStyle(e).color));
		const b = light(back ? parse(getComputedStyle(back).backgroundColor) : [255, 255, 255]);
		const c = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (c < least[0])
			least = [c, `${e.tagName} ${e.className} ${e.textContent.slice(0, 30)}`];
	}
	return least;
})()"""


def test_engine_gone(page, b):
    page.process.end()
    b.wait("document.getElementById('live').textContent !== 'live'")
    check("when the engine is gone the page says so", True)
    # 503 is of a pause of the machine, and is followed by another attempt
    noise = [c for c in b.complaints if "ERR_" not in c and
             "status of 503" not in c]
    check("the browser found nothing to complain of", not noise, noise)
    check("and asked nobody else", all(r.startswith(page.url) or
                                       r.startswith("data:")
                                       for r in b.requests), b.requests)


# --- ten thousand hosts

def large_topology(groups, hosts, rails, spines):
    t = {"srpol-topology": 1, "switches": [], "hosts": [], "links": []}
    names = [(f"s{r}.{s}", "spine") for r in range(rails) for s in range(spines)]
    names += [(f"l{g}.{r}", "leaf") for g in range(groups) for r in range(rails)]
    for i, (name, role) in enumerate(names):
        t["switches"].append({"name": name, "role": role,
                              "locator": f"fc00:0:{i + 1:x}::/48"})
    for g in range(groups):
        t["links"] += [{"from": f"l{g}.{r}", "to": f"s{r}.{s}", "rate": "400G"}
                       for r in range(rails) for s in range(spines)]
        t["hosts"] += [{"name": f"h{g}.{h}", "locator":
                        f"fc00:1:{g * hosts + h + 1:x}::/48", "nics": [
                            {"name": f"e{r}", "leaf": f"l{g}.{r}", "rail": r,
                             "rate": "400G"} for r in range(rails)]}
                       for h in range(hosts)]
    with open(f"{RUN}/ten-thousand.json", "w") as f:
        json.dump(t, f)
    return groups * hosts


def at_epoch(page, number):
    wait_for(f"epoch {number}",
             lambda: page.state()["engine"]["epoch"] == number)


def test_large(b):
    n = large_topology(313, 32, 8, 32)
    page = Page("large", topology=f"{RUN}/ten-thousand.json", **{"lease-s": 60})
    at_epoch(page, 1)
    store_put("job/t/all", json.dumps({"all-to-all": {
        "hosts": [f"h{g}.0" for g in range(64)], "bytes": 1 << 30}}))
    at_epoch(page, 2)
    store_put("link/0/l7.3/h7.0", json.dumps({"number": 1, "links": [
        link("l7.3", "s3.5", 0)]}))
    at_epoch(page, 3)
    check(f"{n} hosts: the plan has what a job announced",
          page.state()["plan"]["demands"] == 64 * 63)
    hosts = engine.Hosts("large-hosts", ["h0.0"], STORE,
                         topology=f"{RUN}/ten-thousand.json")
    hosts.tell("many h0.0 3000 1000")
    wait_for("its load", lambda: page.state()["load"]["hosts"] == 1)
    load = page.state()["load"]
    check(f"{n} hosts: a host names the links that carry most, and the sum of the others",
          load["rest_bps"] == 1000 * sum(range(1000, 4000 - 1024)), load)
    hosts.end()
    text = page.get("/api/state")[1]
    check(f"{n} hosts: what is sent stays small", len(text) < 200_000, len(text))
    b.size(1280, 900)
    b.go(page.url)
    b.wait("document.querySelectorAll('.tile').length > 0")
    tiles = b.js("document.querySelectorAll('.tile').length")
    check(f"{n} hosts: blocks are drawn, not boxes", tiles <= 512, tiles)
    b.wait("document.getElementById('failures').textContent.includes('l7.3 – s3.5')")
    check(f"{n} hosts: the link that is down is told",
          b.js("document.querySelectorAll('.tile.down').length") == 2)
    b.js("document.querySelector('.tile.down').click()")
    b.wait("document.querySelectorAll('#detail tbody tr').length > 4")
    check(f"{n} hosts: a block has its links", "l7.3" in b.js(
        "document.querySelector('#detail tbody tr').textContent"))
    b.shot(f"{OUT}/page-large.png")
    b.size(360, 740)
    wide = b.js("document.documentElement.scrollWidth")
    check(f"{n} hosts: 360 pixels, nothing to scroll sideways", wide <= 360, wide)
    check(f"{n} hosts: the engine ends as it should", page.process.end() == 0)


def test_config():
    for text in ("8080", "localhost:80", "[::1]", "::1:80", "127.0.0.1:", ":80",
                 "127.0.0.1:99999", "[::1:80", "a" * 70):
        with open(f"{RUN}/bad.json", "w") as f:
            json.dump({"topology": f"{RUN}/topology.json", "page": text}, f)
        p = engine.Process("bad", engine.FABRICD, "-c", f"{RUN}/bad.json",
                           "--check-config")
        status = p.p.wait()
        with open(f"{OUT}/bad.log") as f:
            said = f.read().splitlines()[-1]
        check(f"page {text[:20]}: refused, by name", status == 1 and
              "\"page\"" in said, said)


def main():
    print("KTAP version 1")
    for old in os.listdir(OUT):
        os.remove(f"{OUT}/{old}")
    os.system("ip link set lo up 2>/dev/null")
    engine.topology()
    functions.with_functions()
    b = None
    try:
        test_config()
        page = Page("page", forecasts=1000)
        store_put("job/t/a", engine.JOB)
        test_requests(page)
        test_crowd(page)
        test_flood(page)
        test_full(page)
        report("h0", 200)
        test_no_room(page)
        b = browser.Browser(f"{OUT}/browser.log")
        for test in (test_shows, test_load, test_foreseen, test_bandwidth, test_flows,
                     test_escaped, test_keyboard, test_looks, test_engine_gone):
            test(page, b)
        os.remove(f"{RUN}/store.json")  # of another fabric
        test_large(b)
    except (TimeoutError, LookupError, OSError, ValueError) as why:
        check(f"{type(why).__name__}: {why}", False, f"logs in {OUT}")
    finally:
        if b:
            b.end()
        for process in reversed(engine.processes):
            process.end(9)
        os.system(f"rm -rf {RUN}")
    print(f"1..{engine.number}")
    return 1 if engine.failures else 0


if __name__ == "__main__":
    sys.exit(main())
