# Draws lines of a terminal as SVG: awk -v label=TEXT -f terminal.awk LINES. Lines that begin with "$ " are commands, and those
# with "# " notes. Underlines of gristmill explain, and the bar of its progress, get a colour.
function safe(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}
function paint(class, text) { return "<tspan class=\"" class "\">" safe(text) "</tspan>" }
# Every match of a pattern in a class, the rest plain.
function mark(text, pattern, class,    done) {
    while (match(text, pattern)) {
        done = done safe(substr(text, 1, RSTART - 1)) paint(class, substr(text, RSTART, RLENGTH))
        text = substr(text, RSTART + RLENGTH)
    }
    return done safe(text)
}
{
    lines[NR] = $0
    if (length($0) > widest) widest = length($0)
}
END {
    width = int(widest * 8.43 + 40)
    height = NR * 20 + 32
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">\n", \
        width, height, width, height, label
    print "<style>text { font: 14px ui-monospace, \"SF Mono\", Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #e3ddd0; white-space: pre; }"
    print ".command { fill: #ffffff; font-weight: bold; } .prompt, .key { fill: #e6b450; } .note { fill: #9c9484; } .bar { fill: #7fc4a0; }</style>"
    printf "<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#241f1a\"/>\n", width, height
    for (at = 1; at <= NR; at++) {
        line = lines[at]
        if (line == "") continue
        if (line ~ /^\$ /) text = paint("prompt", "$ ") paint("command", substr(line, 3))
        else if (line ~ /^# /) text = paint("note", line)
        else if (line ~ /\[[=> ]+\]/) text = mark(line, "=+>?", "bar")
        else text = mark(line, "__+|_ | \\^ |key [0-9]", "key")
        printf "<text xml:space=\"preserve\" x=\"20\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacing\">%s</text>\n", at * 20 + 10, length(line) * 8.43, text
    }
    print "</svg>"
}
