/* Sorts records of a program's own by a key of two parts: most sales first, then by name. */
#include <gristmill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sale {
    char city[12];
    int cents;
};

static int key_of(void *user, const uint8_t *record, size_t length, gristmill_key *key)
{
    struct sale sale;

    (void)user;
    if (length != sizeof sale)
        return 1;
    memcpy(&sale, record, sizeof sale); /* a record may lie at any address */
    gristmill_key_i64(key, sale.cents, 1);
    gristmill_key_bytes(key, (const uint8_t *)sale.city, strlen(sale.city), 0);
    return 0;
}

static void check(gristmill_sorter *sorter, gristmill_status status)
{
    if (status == GRISTMILL_OK)
        return;
    fprintf(stderr, "%s: %s\n", gristmill_status_text(status), gristmill_error(sorter));
    gristmill_free(sorter); /* removes the temporary files */
    exit(1);
}

int main(void)
{
    const struct sale sales[] = {{"Oslo", 5}, {"Bonn", 5}, {"Rome", 7}};
    gristmill_sorter *sorter = NULL;
    const uint8_t *record;
    gristmill_status status;
    size_t length;
    char format[32];

    snprintf(format, sizeof format, "fixed:%u", (unsigned)sizeof sales[0]);
    check(sorter, gristmill_new(format, &sorter));
    check(sorter, gristmill_set_memory(sorter, (uint64_t)64 << 20));
    check(sorter, gristmill_set_key_function(sorter, key_of, NULL));
    check(sorter, gristmill_start(sorter));
    check(sorter, gristmill_push_bytes(sorter, (const uint8_t *)sales, sizeof sales));
    check(sorter, gristmill_finish(sorter));
    while ((status = gristmill_next(sorter, &record, &length)) == GRISTMILL_OK) {
        struct sale sale;

        memcpy(&sale, record, sizeof sale);
        printf("%s %d\n", sale.city, sale.cents);
    }
    if (status != GRISTMILL_END)
        check(sorter, status);
    gristmill_free(sorter);
    return 0;
}
