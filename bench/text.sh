# shellcheck shell=sh disable=SC2154
# Sourced by the scripts that need such lines.

# As many lines as $records of a name, a number and an address, parted by $1, behind the header $2
# unless it is empty. Any awk draws the same.
text() {
    awk -v count="$records" -v separator="$1" -v header="$2" '
        function draw(below) {
            state = (state * 1103515 + 12345) % 2147483648
            return int(state / 2147483648 * below)
        }
        BEGIN {
            state = 1
            if (header != "") print header
            for (at = 0; at < count; at++) {
                name = sprintf("%c%c%05x", 97 + draw(26), 97 + draw(26), draw(1048576))
                printf "%s%s%d%sstreet %d\n", name, separator, draw(100000), separator, draw(10000)
            }
        }'
}
