//! Labels beside points, where they cover nothing.
//!
//! Each label is tried at the right of its point, at the left, above, below and at the corners,
//! then once more a little further away; it takes the first free place. If one label finds none, no
//! label is placed: the points get numbers instead, which are shorter, and the legend explains
//! them.

use crate::page::plane::{LETTER, width_of};

/// Left, top, right and bottom of a part of the drawing that is in use.
pub(crate) type UsedArea = [f64; 4];

/// Half the size of a point's sign.
pub(crate) const SIGN: f64 = 6.0;

/// The left end and the baseline of a label.
pub(crate) type Start = (f64, f64);

/// Free places inside the frame for all labels; `None` if a label finds none.
pub(crate) fn placed(
    points: &[(f64, f64)],
    labels: &[String],
    taken: &[UsedArea],
    frame: UsedArea,
) -> Option<Vec<Start>> {
    let mut taken = taken.to_vec();
    points
        .iter()
        .zip(labels)
        .map(|(point, label)| {
            let free = around(*point, label).find(|place| {
                is_within(*place, frame) && taken.iter().all(|other| !do_touch(*place, *other))
            });
            free.inspect(|place| taken.push(*place)).map(start)
        })
        .collect()
}

/// As [`placed`], but a label without a free place covers as few things as possible.
pub(crate) fn crowded(
    points: &[(f64, f64)],
    labels: &[String],
    taken: &[UsedArea],
    frame: UsedArea,
) -> Vec<Start> {
    let mut taken = taken.to_vec();
    points
        .iter()
        .zip(labels)
        .map(|(point, label)| {
            let covered = |place: &UsedArea| {
                let touched = taken.iter().filter(|other| do_touch(*place, **other));
                (!is_within(*place, frame), touched.count())
            };
            let places = around(*point, label);
            let place = places.min_by_key(covered).expect("some place");
            taken.push(place);
            start(place)
        })
        .collect()
}

/// Places beside a point, the best first.
fn around((x, y): (f64, f64), label: &str) -> impl Iterator<Item = UsedArea> {
    // Further away, a label would be taken for a neighbour's.
    const DISTANCES: [f64; 2] = [2.0, 10.0];
    let (width, half) = (width_of(label), LETTER / 2.0);
    DISTANCES.into_iter().flat_map(move |distance| {
        let away = SIGN + distance;
        let (right, left, middle) = (x + away, x - away - width, x - width / 2.0);
        let (above, below) = (y - away - half, y + away + half);
        let begins = [
            (right, y),
            (left, y),
            (middle, above),
            (middle, below),
            (right, above),
            (left, above),
            (right, below),
            (left, below),
        ];
        begins.map(|(x, y)| [x, y - half, x + width, y + half])
    })
}

fn start([left, _, _, bottom]: UsedArea) -> Start {
    // The baseline is above the bottom by the tails of letters.
    (left, bottom - LETTER / 5.0)
}

fn is_within(place: UsedArea, frame: UsedArea) -> bool {
    place[0] >= frame[0] && place[1] >= frame[1] && place[2] <= frame[2] && place[3] <= frame[3]
}

fn do_touch(a: UsedArea, b: UsedArea) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// The square around a point, `half` its side.
pub(crate) fn square((x, y): (f64, f64), half: f64) -> UsedArea {
    [x - half, y - half, x + half, y + half]
}

/// The places that a line covers: a chain of small squares.
pub(crate) fn along(from: (f64, f64), to: (f64, f64)) -> impl Iterator<Item = UsedArea> {
    const STEP: f64 = 5.0;
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = (dx.hypot(dy) / STEP).ceil().max(1.0) as usize;
    (0..=steps).map(move |at| {
        let share = at as f64 / steps as f64;
        let (x, y) = (from.0 + share * dx, from.1 + share * dy);
        square((x, y), STEP / 2.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: UsedArea = [0.0, 0.0, 200.0, 100.0];

    fn words(count: usize) -> Vec<String> {
        vec!["paper".to_owned(); count]
    }

    #[test]
    fn a_label_goes_to_the_right_if_it_fits() {
        let starts = placed(&[(50.0, 50.0), (190.0, 50.0)], &words(2), &[], FRAME).unwrap();
        assert!(
            starts[0].0 > 50.0 && starts[1].0 + width_of("paper") < 190.0,
            "{starts:?}"
        );
    }

    #[test]
    fn labels_of_neighbours_do_not_touch() {
        let points = [(100.0, 50.0), (104.0, 52.0), (98.0, 47.0)];
        let starts = placed(&points, &words(3), &[], FRAME).unwrap();
        let rooms = starts
            .iter()
            .map(|(x, y)| [*x, y - LETTER, x + width_of("paper"), *y]);
        let rooms: Vec<_> = rooms.collect();
        for (at, room) in rooms.iter().enumerate() {
            assert!(
                rooms[..at].iter().all(|other| !do_touch(*room, *other)),
                "{rooms:?}"
            );
        }
    }

    #[test]
    fn a_label_without_a_free_place_is_not_placed() {
        assert_eq!(placed(&[(50.0, 50.0)], &words(1), &[FRAME], FRAME), None);
        assert_eq!(
            crowded(&[(50.0, 50.0)], &words(1), &[FRAME], FRAME).len(),
            1
        );
        let many = [(100.0, 50.0); 40];
        assert_eq!(placed(&many, &words(40), &[], FRAME), None);
    }

    #[test]
    fn a_line_covers_places_from_end_to_end() {
        let line: Vec<_> = along((0.0, 0.0), (30.0, 40.0)).collect();
        let touches = |x: f64, y: f64| {
            line.iter()
                .any(|room| do_touch(*room, [x, y, x + 0.1, y + 0.1]))
        };
        assert!(touches(0.0, 0.0) && touches(15.0, 20.0) && touches(30.0, 40.0));
        assert!(!touches(30.0, 0.0));
        assert_eq!(along((1.0, 1.0), (1.0, 1.0)).count(), 2);
    }
}
