//! Results as a table for other programs: CSV (RFC 4180). A row is a run, or a reading where an experiment
//! compares them.

use lab::experiment::Sample;
use plot::{Grid, Reading};

/// Names of the columns.
const HEAD: &str = "series,vary,at,x,seed,value,mean,sd,measure,stage,unit";

/// The table with its header. Numbers have all digits that distinguish them.
pub(super) fn csv(samples: &[Sample]) -> String {
    let rows = samples.iter().map(|sample| {
        let [series, vary, at, measure, stage] = [
            &sample.series,
            &sample.vary,
            &sample.at,
            &sample.measure,
            &sample.stage,
        ]
        .map(|text| quoted(text));
        let Sample {
            x,
            seed,
            value,
            mean,
            sd,
            unit,
            ..
        } = sample;
        format!("{series},{vary},{at},{x},{seed},{value},{mean},{sd},{measure},{stage},{unit}\n")
    });
    [format!("{HEAD}\n")].into_iter().chain(rows).collect()
}

/// The table of all readings: the value of each dial, the ranks by claims met and by distance, and our figure
/// for each claim.
pub(super) fn readings(grid: &Grid) -> String {
    let first = grid.readings.first();
    let claims = first.iter().flat_map(|reading| &reading.claims);
    let ids = claims.map(|claim| quoted(&claim.id));
    let counts = ["by met", "by off", "met", "off"].map(str::to_owned);
    let dials = grid.dials.iter().map(|dial| quoted(dial));
    let head: Vec<String> = dials.chain(counts).chain(ids).collect();
    let row = |reading: &Reading| {
        let better = |is_better: &dyn Fn(&Reading) -> bool| {
            1 + grid
                .readings
                .iter()
                .filter(|other| is_better(other))
                .count()
        };
        let by_met = better(&|other| other.met() > reading.met());
        let by_off = better(&|other| other.off < reading.off);
        let values = reading.values.iter().map(|value| quoted(value));
        let counts = [by_met, by_off, reading.met()].map(|count| count.to_string());
        let ours = reading.claims.iter().map(|claim| claim.ours.to_string());
        let cells = values.chain(counts).chain([reading.off.to_string()]);
        cells.chain(ours).collect::<Vec<_>>().join(",")
    };
    let rows = grid.readings.iter().map(row);
    let lines = [head.join(",")].into_iter().chain(rows);
    lines.map(|line| line + "\n").collect()
}

/// A text that may have commas, quotes or line ends.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_run() {
        let sample = Sample {
            series: "a \"b\", c".to_owned(),
            vary: "incast".to_owned(),
            at: "8".to_owned(),
            x: 8.0,
            seed: 3,
            value: 0.1,
            mean: 0.25,
            sd: 0.0,
            measure: "time".to_owned(),
            stage: String::new(),
            unit: "us",
        };
        let told = csv(&[sample]);
        let (head, row) = told.split_once('\n').unwrap();
        assert_eq!(head, HEAD);
        assert_eq!(row, "\"a \"\"b\"\", c\",incast,8,8,3,0.1,0.25,0,time,,us\n");
    }
}
