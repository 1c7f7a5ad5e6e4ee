//! The values of all runs as a table for other programs: CSV (RFC 4180), a row per run.

use ::lab::experiment::Sample;

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
