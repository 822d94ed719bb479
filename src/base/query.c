/* SPDX-License-Identifier: Apache-2.0 */
#include "base/query.h"

void query_escape(struct str value, struct strbuf *out)
{
    static const char PLAIN[] = "-_.~";
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (letter || (c >= '0' && c <= '9') || (c && strchr(PLAIN, c)))
            strbuf_addc(out, (char)c);
        else if (c == ' ')
            strbuf_addc(out, '+');
        else
            strbuf_addf(out, "%%%02X", c);
    }
}
