// SPDX-License-Identifier: GPL-2.0
/* The page's own files from page/, embedded in the program. */
#include <string.h>

#include "web.h"

#define FILE_BYTES(name, file)						\
	asm(".section .rodata\n"					\
	    ".global " #name "_begin\n" #name "_begin:\n"		\
	    ".incbin \"" file "\"\n"					\
	    ".global " #name "_end\n" #name "_end:\n"			\
	    ".byte 0\n.previous\n");					\
	extern const char name##_begin[], name##_end[]

FILE_BYTES(page_html, "page.html");
FILE_BYTES(page_css, "page.css");
FILE_BYTES(page_js, "page.js");
FILE_BYTES(draw_js, "draw.js");
FILE_BYTES(icon_svg, "icon.svg");

static const struct web_file files[] = {
	{ "/", "text/html; charset=utf-8", page_html_begin, page_html_end },
	{ "/page.css", "text/css; charset=utf-8", page_css_begin,
	  page_css_end },
	{ "/page.js", "text/javascript; charset=utf-8", page_js_begin,
	  page_js_end },
	{ "/draw.js", "text/javascript; charset=utf-8", draw_js_begin,
	  draw_js_end },
	{ "/icon.svg", "image/svg+xml", icon_svg_begin, icon_svg_end },
};

/**
 * web_file() - find a file of the page
 * @url: its URL
 *
 * Return: NULL if there is none.
 */
const struct web_file *web_file(const char *url)
{
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(files[i].url, url))
			return &files[i];
	return NULL;
}
