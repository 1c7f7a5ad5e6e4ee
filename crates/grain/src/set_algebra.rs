//! Set algebra for web search: which documents hold all words of a query (NanoSort, section 3.2 and
//! Figure 1).
//!
//! Each rank has a range of documents and, for each term, the sorted list of those that hold it.
//!
//! ```text
//!   rank 0    query --multicast--> all
//!   all       list of term 1  x  list of term 2  x ...     two lists at a time, front to back
//!   tree      hits are counted and summed up on the way to rank 0
//! ```
//!
//! One query follows the other, as an answer is wanted soon. Ranks without hits answer as well: the
//! root knows the end by counting.

use clap::Args;
use node::{Node, Random, Rank, Work};
use serde::Serialize;

use crate::collective::Collective;
use crate::described;
use crate::options::{ReorderBy, count, from_0};
use crate::program::{Program, Span, Verdict, WORD_BYTES, grouped};
use crate::tree::Tree;

/// One of so many documents holds a term: two for term 0, one more for each next one, and from the
/// start after this many.
const RARITIES: u32 = 8;

/// What a rank passes on: how many documents, and their sum.
const VALUE_WORDS: u32 = 2;

/// Queries are drawn from streams beyond those of documents, of which a search has fewer than 2^63.
const QUERIES: u64 = 1 << 63;

/// Intersect posting lists: a small search over documents on all cores.
///
/// Stages: `ask` on core 0, `query`, `intersect`, `merge`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct SetAlgebra {
    /// Documents of each core
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 64, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub documents: u32,
    /// Values that a core of the tree merges in one step, its own among them; 1 makes the tree a
    /// chain
    #[arg(long, value_name = "F", default_value_t = 8, value_parser = count)]
    pub incast: u32,
    /// Queries, one after the other
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count)]
    pub queries: u32,
    /// Where messages of later steps wait
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Different terms.
    #[arg(skip = 32_u32)]
    #[serde(skip)]
    pub terms: u32,
    /// Terms of a query.
    #[arg(skip = 3_u32)]
    #[serde(skip)]
    pub query_terms: u32,
    /// Decides documents and queries.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { SetAlgebra is "set-algebra" on 64 cores; "--queries 16 --reorder nic" }

/// What a query found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// How many documents.
    pub count: u64,
    /// Sum of their numbers, each mixed.
    pub sum: u64,
}

/// What one rank of the search gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What each query found; on rank 0 alone.
    pub hits: Vec<Hits>,
    /// Pairs of lists that this rank intersected.
    pub intersections: u64,
    /// Words of them that it looked at.
    pub words: u64,
    /// How long it took.
    pub span: Span,
}

impl Program for SetAlgebra {
    type Answer = Found;

    async fn run(self, node: Node) -> Found {
        if self.objection(node.nodes()).is_some() {
            return Found::default();
        }
        let postings = Postings::new(&self, node.rank());
        let begin = node.now();
        let mut collective = Collective::new(&node, self.incast, self.reorder.matching());
        let mut found = Found::default();
        for round in 0..self.queries {
            let terms = self.asked(&node, &mut collective, round).await;
            node.stage("intersect");
            let hits = postings.query(&node, &terms, &mut found);
            node.stage("merge");
            let mut value = [hits.count, hits.sum];
            let add = |value: &mut [u64], other: &[u64]| {
                value
                    .iter_mut()
                    .zip(other)
                    .for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
            };
            collective.merge(&node, round, &mut value, add).await;
            if node.rank() == Rank(0) {
                found.hits.push(Hits {
                    count: value[0],
                    sum: value[1],
                });
            }
        }
        Found {
            span: Span::since(begin, &node),
            ..found
        }
    }

    fn reorder(&self) -> ReorderBy {
        self.reorder
    }

    fn note(&self, ranks: u32) -> Option<String> {
        Tree::note(ranks, self.incast)
    }

    fn check(&self, answers: &[Found]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let Some(root) = answers.first() else {
            return Verdict::refused("there are no cores".to_owned());
        };
        let naive = (0..self.queries).map(|query| self.naive(query, answers.len() as u64));
        let mut pairs = naive.zip(&root.hits).enumerate();
        let fault = if root.hits.len() == self.queries as usize {
            let wrong = pairs.find(|(_, (expected, found))| expected != *found);
            wrong.map(|(query, (expected, found))| {
                format!(
                    "query {query} found {}, and it is {}",
                    found.count, expected.count
                )
            })
        } else {
            Some(format!(
                "{} queries were answered of {}",
                root.hits.len(),
                self.queries
            ))
        };
        let hits: u64 = root.hits.iter().map(|hits| hits.count).sum();
        let documents = answers.len() as u64 * u64::from(self.documents);
        let (hits, documents) = (grouped(hits), grouped(documents));
        let result = format!(
            "{hits} hits of {} queries in {documents} documents",
            self.queries
        );
        Verdict::new(result, fault).with_spans(answers.iter().map(|answer| answer.span))
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let most = node::MESSAGE_WORDS as u32 - 1;
        if !(1..=most).contains(&self.query_terms) {
            return Some(format!(
                "a query has 1 to {most} terms, not {}",
                self.query_terms
            ));
        }
        if self.terms == 0 {
            return Some("there are no terms to ask for".to_owned());
        }
        let offsets = u64::from(self.documents) * u64::from(self.terms);
        if offsets > u64::from(u32::MAX) {
            let most = grouped(u64::from(u32::MAX / self.terms));
            return Some(format!(
                "a core holds at most {most} documents with {} terms",
                self.terms
            ));
        }
        // A rank may hear of a query after all that it hears.
        Collective::objection(
            &Tree::new(ranks, self.incast).heard(1),
            self.reorder.matching(),
            VALUE_WORDS,
        )
    }

    /// The lists of all ranks: a term is in half of the documents at most, and a list that grows
    /// may take twice its length. The hits of the root, and the check's.
    fn bytes(&self, ranks: u64, _at_once: u64) -> u64 {
        let lists = (u64::from(self.documents) * 4).saturating_mul(u64::from(self.terms));
        let hits = 2 * u64::from(self.queries) * VALUE_WORDS as u64 * WORD_BYTES;
        lists.saturating_mul(ranks).saturating_add(hits)
    }
}

impl SetAlgebra {
    /// The terms of a query: rank 0 draws and tells them, the others hear them.
    async fn asked(&self, node: &Node, collective: &mut Collective, query: u32) -> Vec<u32> {
        if node.rank() != Rank(0) {
            node.stage("query");
            let words = collective.hear(node, query).await;
            return words.iter().map(|term| *term as u32).collect();
        }
        node.stage("ask");
        let terms = self.terms_of(query);
        let words: Vec<u64> = terms.iter().map(|term| u64::from(*term)).collect();
        collective.tell(node, query, &words).await;
        terms
    }

    fn terms_of(&self, query: u32) -> Vec<u32> {
        let mut random = Random::stream(self.seed, QUERIES + u64::from(query));
        (0..self.query_terms)
            .map(|_| random.below(self.terms as usize) as u32)
            .collect()
    }

    /// Whether a document holds a term.
    fn holds(&self, document: u64, term: u32) -> bool {
        let mut random = Random::stream(self.seed ^ (u64::from(term) << 40), document);
        random.below(2 + (term % RARITIES) as usize) == 0
    }

    /// Looks at every document.
    fn naive(&self, query: u32, ranks: u64) -> Hits {
        let terms = self.terms_of(query);
        let mut hits = Hits::default();
        for document in 0..ranks * u64::from(self.documents) {
            if terms.iter().all(|term| self.holds(document, *term)) {
                hits.add(document);
            }
        }
        hits
    }
}

impl Hits {
    fn add(&mut self, document: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(Random::new(document).next_u64());
    }
}

/// For each term the sorted documents of a rank that hold it, one list behind the other.
struct Postings {
    first: u64,
    starts: Vec<u32>,
    documents: Vec<u32>,
}

impl Postings {
    fn new(program: &SetAlgebra, rank: Rank) -> Postings {
        let first = u64::from(rank.0) * u64::from(program.documents);
        let (mut starts, mut documents) = (vec![0], Vec::new());
        for term in 0..program.terms {
            let all = 0..program.documents;
            documents
                .extend(all.filter(|document| program.holds(first + u64::from(*document), term)));
            starts.push(documents.len() as u32);
        }
        Postings {
            first,
            starts,
            documents,
        }
    }

    /// The documents that hold all terms.
    fn query(&self, node: &Node, terms: &[u32], found: &mut Found) -> Hits {
        let (first, others) = terms.split_first().expect("a query has terms");
        let mut left = self.list(*first).to_vec();
        for term in others {
            let (both, words) = intersect(&left, self.list(*term));
            node.work(Work::Scan { words });
            found.intersections += 1;
            found.words += words;
            left = both;
        }
        let mut hits = Hits::default();
        left.into_iter()
            .for_each(|document| hits.add(self.first + u64::from(document)));
        hits
    }

    fn list(&self, term: u32) -> &[u32] {
        let term = term as usize;
        &self.documents[self.starts[term] as usize..self.starts[term + 1] as usize]
    }
}

/// What two sorted lists have in common, and how many of their elements were looked at.
fn intersect(left: &[u32], right: &[u32]) -> (Vec<u32>, u64) {
    let (mut both, mut at, mut other) = (Vec::new(), 0, 0);
    while at < left.len() && other < right.len() {
        let order = left[at].cmp(&right[other]);
        if order.is_eq() {
            both.push(left[at]);
        }
        at += usize::from(order.is_le());
        other += usize::from(order.is_ge());
    }
    (both, (at + other) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_meet_in_what_they_share() {
        assert_eq!(intersect(&[1, 3, 5, 9], &[2, 3, 9, 10]), (vec![3, 9], 7));
        assert_eq!(intersect(&[], &[1]), (vec![], 0));
        assert_eq!(intersect(&[4, 5], &[1, 2]), (vec![], 2));
    }
}
