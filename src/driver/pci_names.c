/* SPDX-License-Identifier: Apache-2.0 */
/* The database of PCI names: "VENDOR  Name" and, behind a tab, "DEVICE  Name". */
#include <stdio.h>
#include <stdlib.h>

#include "driver/found.h"

static const char *const PLACES[] = {"/usr/share/misc/pci.ids",
                                     "/usr/share/hwdata/pci.ids"};

static FILE *open_database(const struct found *f)
{
    FILE *file = NULL;
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES && !file; i++)
        file = fopen(arena_printf(f->a, "%.*s%s", STR_ARG(f->opts->root), PLACES[i]).p,
                     "re");
    return file;
}

/* "8086  Intel Corporation" of this number. */
static bool is_line_of(const char *line, long id)
{
    char *end;
    return str_hex_digit(*line) >= 0 && strtol(line, &end, 16) == id && *end == ' ';
}

static struct str name_in(const struct found *f, const char *line)
{
    return arena_str(f->a, str_trim(str_sub(str_from(line), 4, SIZE_MAX)));
}

void pci_names(const struct found *f, long vendor, long device, struct str *vendor_name,
               struct str *device_name)
{
    char line[512];
    bool inside = false;
    FILE *file = open_database(f);
    *vendor_name = arena_printf(f->a, "0x%04lx", (unsigned long)vendor);
    *device_name = arena_printf(f->a, "0x%04lx", (unsigned long)device);
    while (file && fgets(line, sizeof line, file)) {
        if (line[0] == '\t' && line[1] != '\t') {
            if (inside && is_line_of(line + 1, device))
                *device_name = name_in(f, line + 1);
        } else if (line[0] != '#' && line[0] != '\t' && line[0] != '\n') {
            if (inside)
                break;
            inside = is_line_of(line, vendor);
            if (inside)
                *vendor_name = name_in(f, line);
        }
    }
    if (file)
        fclose(file);
}
