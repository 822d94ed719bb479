/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/identity.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "net/pki.h"

void identity_make(char out[IDENTITY_SIZE])
{
    char host[64] = "localhost";
    uint64_t number = 0;
    gethostname(host, sizeof host - 1);
    pki_random(&number, sizeof number);
    snprintf(out, IDENTITY_SIZE, "%s_%016llx", host, (unsigned long long)number);
}
