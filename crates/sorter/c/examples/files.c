/* Sorts a file, merges it with another one, checks the result, and shows an error. */
#include <gristmill.h>
#include <stdio.h>

static gristmill_sorter *by_number(void)
{
    gristmill_sorter *sorter = NULL;

    if (gristmill_new("lines", &sorter) == GRISTMILL_OK)
        gristmill_add_key(sorter, "1,1n"); /* its mistakes are told when the sort begins */
    return sorter;
}

static int failed(gristmill_sorter *sorter)
{
    printf("%s\n", gristmill_error(sorter));
    gristmill_free(sorter);
    return 1;
}

static void make(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

int main(void)
{
    const char *unsorted[] = {"unsorted.txt"};
    const char *both[] = {"sorted.txt", "more.txt"};
    const char *missing[] = {"no/such/file"};
    gristmill_report report;
    gristmill_sorter *sorter;
    uint64_t number;

    make("unsorted.txt", "10\n9\n100\n");
    make("more.txt", "1\n50\n");

    sorter = by_number();
    if (gristmill_sort_files(sorter, unsorted, 1, "sorted.txt", &report) != GRISTMILL_OK)
        return failed(sorter);
    printf("sorted %lu records\n", (unsigned long)report.records);
    gristmill_free(sorter);

    sorter = by_number();
    if (gristmill_merge_files(sorter, both, 2, "merged.txt", &report) != GRISTMILL_OK)
        return failed(sorter);
    printf("merged %lu records\n", (unsigned long)report.records);
    gristmill_free(sorter);

    sorter = by_number();
    if (gristmill_check_file(sorter, "merged.txt", &number, NULL, NULL) != GRISTMILL_OK)
        return failed(sorter);
    printf("merged.txt is %s\n", number == 0 ? "in order" : "out of order");
    gristmill_free(sorter);

    sorter = by_number();
    if (gristmill_sort_files(sorter, missing, 1, "out.txt", NULL) == GRISTMILL_FILE)
        failed(sorter);
    return 0;
}
