/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service_range.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BITS = 20, MIN_BITS = 2 }; /* of a range */

static void clear_host(unsigned char *address, unsigned bytes, unsigned prefix)
{
    for (unsigned bit = prefix; bit < bytes * 8; bit++)
        address[bit / 8] &= (unsigned char)~(0x80U >> bit % 8);
}

static bool read_prefix(const char *text, unsigned bits, unsigned *out)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end || end == text || *text < '0' || *text > '9' || n > bits)
        return false;
    *out = (unsigned)n;
    return true;
}

bool service_range_parse(const char *text, struct service_range *out, struct err *e)
{
    unsigned char address[16];
    char head[48] = "", shown[48];
    const char *slash = strchr(text, '/');
    bool six = strchr(text, ':') != NULL;
    unsigned bytes = six ? 16 : 4, prefix = 0;
    if (strchr(text, ','))
        return err_set(e, ERR_UNSUPPORTED, "one range is needed, no second one");
    if (slash && (size_t)(slash - text) < sizeof head)
        memcpy(head, text, (size_t)(slash - text));
    if (!slash || !read_prefix(slash + 1, bytes * 8, &prefix) ||
        inet_pton(six ? AF_INET6 : AF_INET, head, address) != 1)
        return err_set(e, ERR_INVALID, "write a range as in 10.0.0.0/24");
    if (bytes * 8 - prefix > MAX_BITS || bytes * 8 - prefix < MIN_BITS)
        return err_set(e, ERR_INVALID, "the range must have 4 to 2^%d addresses",
                       MAX_BITS);
    *out = (struct service_range){.six = six};
    clear_host(address, bytes, prefix);
    inet_ntop(six ? AF_INET6 : AF_INET, address, shown, sizeof shown);
    snprintf(out->cidr, sizeof out->cidr, "%s/%u", shown, prefix);
    address[bytes - 1] |= 1;
    inet_ntop(six ? AF_INET6 : AF_INET, address, out->first, sizeof out->first);
    return true;
}
