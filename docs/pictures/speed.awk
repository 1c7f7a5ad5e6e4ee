# Draws the runs of examples/comparison/measure.sh as bars: sort -k1,1 -k2,2 -k3,3n RESULTS | awk -v style=CSS -f speed.awk
{
    key = $1 " " $2
    seconds[key, ++runs[key]] = $3
}
function median(key) { return seconds[key, int((runs[key] + 1) / 2)] }
END {
    count = split("a b c d e", jobs, " ")
    split("lines by their bytes|a number of a delimited file|CSV by date and price, 256 MB|the 100 largest|each line once, with its count", titles, "|")
    tools = split("gristmill gnu duckdb polars qsv xan", tool, " ")
    split("gristmill|GNU sort|DuckDB|Polars|qsv|xan", names, "|")
    for (job = 1; job <= count; job++) {
        for (at = 1; at <= tools; at++) {
            key = jobs[job] " " tool[at]
            if (!runs[key]) continue
            bars++
            if (median(key) > longest[job]) longest[job] = median(key)
        }
        # A bar of more than ten times ours is cut.
        if (longest[job] > 10 * median(jobs[job] " gristmill")) longest[job] = 10 * median(jobs[job] " gristmill")
    }
    height = 62 + count * 30 + bars * 17
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 %d\" width=\"640\" height=\"%d\" role=\"img\" aria-label=\"Seconds of five jobs by several tools\">\n%s\n", height, height, style
    printf "<rect class=\"card\" width=\"640\" height=\"%d\" rx=\"8\"/><text class=\"title\" x=\"24\" y=\"32\">Seconds, each job to its own scale</text>", height
    # Apart and smaller: as one title the two were wider than the picture in some fonts.
    printf "<text class=\"soft small end\" x=\"616\" y=\"32\">medians of up to %d runs, files of 500 MB</text>\n", runs["a gristmill"]
    y = 42
    for (job = 1; job <= count; job++) {
        y += 26
        printf "<text class=\"soft\" x=\"24\" y=\"%d\">%s</text>\n", y, titles[job]
        y += 4
        for (at = 1; at <= tools; at++) {
            key = jobs[job] " " tool[at]
            if (!runs[key]) continue
            y += 17
            width = median(key) / longest[job] * 400
            cut = width > 400 ? " (bar is cut)" : ""
            if (cut) width = 400
            printf "<text class=\"small end\" x=\"100\" y=\"%d\">%s</text>", y, names[at]
            printf "<rect class=\"%s\" x=\"108\" y=\"%d\" width=\"%.1f\" height=\"12\" rx=\"2\"/>", at == 1 ? "ours" : "theirs", y - 10, width
            printf "<text class=\"small\" x=\"%.1f\" y=\"%d\">%.2f%s</text>\n", 114 + width, y, median(key), cut
        }
    }
    print "</svg>"
}
