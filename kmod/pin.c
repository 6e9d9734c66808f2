// SPDX-License-Identifier: GPL-2.0
/*
 * Mode active-backup: which segment list is in use, and in what order the data
 * plane tries the lists.
 */
#include "pure.h"

/**
 * srpol_pin_select() - select the list to use
 * @pin: the lists in the configured order
 * @n: number of lists
 * @current_list: index of the list in use, SRPOL_NO_LIST for none
 * @wait: set to the time after which an earlier list may be returned to, 0 if
 *	none is waiting
 *
 * While the list in use is usable, an earlier one replaces it only after its
 * wait; when it fails, the next one takes over at once.
 *
 * Return: index of a list, SRPOL_NO_LIST if none can be used.
 */
u8 srpol_pin_select(const struct srpol_pin *pin, u32 n, u8 current_list,
		    u32 *wait)
{
	bool keep = current_list < n && pin[current_list].usable;
	u32 i;

	*wait = 0;
	for (i = 0; i < n; i++) {
		if (!pin[i].usable)
			continue;
		if (!keep || i == current_list || !pin[i].wait)
			return i;
		if (!*wait || pin[i].wait < *wait)
			*wait = pin[i].wait;
	}
	return SRPOL_NO_LIST;
}

/**
 * srpol_pin_order() - the order in which lists are tried
 * @order: result, with room for @n indices
 * @known: which lists take part
 * @n: number of lists
 * @first: index of the list in use
 *
 * Return: number of indices in @order.
 */
u32 srpol_pin_order(u8 *order, const bool *known, u32 n, u8 first)
{
	u32 len = 0, i;

	order[len++] = first;
	for (i = 0; i < n; i++)
		if (i != first && known[i])
			order[len++] = i;
	return len;
}
