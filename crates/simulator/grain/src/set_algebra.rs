//! Set algebra for web search: the documents that hold all words of a query (NanoSort, section 3.2
//! and Figure 1).
//!
//! Each rank has a range of documents and, for each term, the sorted list of documents that hold
//! it.
//!
//! ```text
//!   rank 0    query --multicast--> all
//!   all       intersect the lists of the query's terms, two at a time
//!   tree      count the hits and add them up on the way to rank 0
//! ```
//!
//! Queries follow each other, since latency matters. Ranks without hits reply, too, so the root
//! knows the end by counting.

use clap::Args;
use node::{Node, Random, Rank, Work};
use serde::{Deserialize, Serialize};

use crate::collective::Collective;
use crate::described;
use crate::load::Load;
use crate::options::{ReorderBy, count, from_0};
use crate::program::{Program, Span, Verdict, WORD_BYTES};
use crate::tree::Tree;
use units::grouped;

/// Term t is in one of 2 + t % `RARITIES` documents.
const RARITIES: u32 = 8;

/// Words of a message of hits: their count and sum.
const VALUE_WORDS: u32 = 2;

/// The first random stream of queries; those of documents are below.
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
    /// Values that a core of the tree merges at a time, its own included; 1 makes the tree a chain
    #[arg(long, value_name = "F", default_value_t = 8, value_parser = count)]
    pub incast: u32,
    /// Number of queries, one after the other
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count)]
    pub queries: u32,
    /// Where early messages are buffered
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Number of distinct terms.
    #[arg(skip = 32_u32)]
    #[serde(skip)]
    pub terms: u32,
    /// Number of terms per query.
    #[arg(skip = 3_u32)]
    #[serde(skip)]
    pub query_terms: u32,
    /// Seed of documents and queries.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { SetAlgebra is "set-algebra" on 64 cores; "--queries 16 --reorder nic" }

/// The documents that a query found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hits {
    /// Number of documents.
    pub count: u64,
    /// Sum of hashes of their numbers, modulo 2^64.
    pub sum: u64,
}

/// The answer of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The hits of each query; empty on all ranks but 0.
    pub hits: Vec<Hits>,
    /// Pairs of lists that this rank intersected.
    pub intersections: u64,
    /// Words of lists that it read.
    pub words: u64,
    /// Begin and end by its own clock.
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
            let terms = self.receive_query(&node, &mut collective, round).await;
            node.stage("intersect");
            let hits = postings.query(&node, &terms, &mut found);
            node.stage("merge");
            let mut value = [hits.count, hits.sum];
            collective.reduce(&node, round, &mut value, add).await;
            let [count, sum] = value;
            if node.rank() == Rank(0) {
                found.hits.push(Hits { count, sum });
            }
        }
        let span = Span::since(begin, &node);
        Found { span, ..found }
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
        let fault = self.fault(root, answers.len() as u64);
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
        // The next query may arrive behind the hits of all children.
        Collective::objection(
            &Tree::new(ranks, self.incast).most_children(1),
            self.reorder.matching(),
            VALUE_WORDS,
        )
    }

    /// Each query goes down the tree, and its hits come up. The lists of all terms are made first.
    fn load(&self, ranks: u32) -> Option<Load> {
        let ranks_64 = u64::from(ranks);
        let received = 2 * u64::from(self.queries) * ranks_64;
        let lists = u64::from(self.documents) * u64::from(self.terms) * ranks_64;
        Some(Load::of_messages(received, ranks, 9 << 10).and(10 * lists, lists))
    }

    /// The lists of all ranks, in which a term has at most half of the documents and a growing list
    /// twice its length; and the hits of the root and of the check.
    fn bytes(&self, ranks: u64, _at_once: u64) -> u64 {
        let lists = (u64::from(self.documents) * 4).saturating_mul(u64::from(self.terms));
        let hits = 2 * u64::from(self.queries) * VALUE_WORDS as u64 * WORD_BYTES;
        lists.saturating_mul(ranks).saturating_add(hits)
    }
}

impl SetAlgebra {
    fn fault(&self, root: &Found, ranks: u64) -> Option<String> {
        let (found, expected) = (root.hits.len(), self.queries);
        if found != expected as usize {
            return Some(format!("{found} queries were answered of {expected}"));
        }
        (0..self.queries)
            .zip(&root.hits)
            .find_map(|(query, found)| {
                let (found, expected) = (*found, self.naive(query, ranks));
                (found != expected).then(|| {
                    format!(
                        "query {query} found {} documents, not {}",
                        found.count, expected.count
                    )
                })
            })
    }

    /// The terms of a query, which rank 0 draws and sends to the others.
    async fn receive_query(
        &self,
        node: &Node,
        collective: &mut Collective,
        query: u32,
    ) -> Vec<u32> {
        if node.rank() != Rank(0) {
            node.stage("query");
            let words = collective.receive(node, query).await;
            return words.iter().map(|term| *term as u32).collect();
        }
        node.stage("ask");
        let terms = self.terms_of(query);
        let words: Vec<u64> = terms.iter().map(|term| u64::from(*term)).collect();
        collective.broadcast(node, query, &words).await;
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

    /// The hits of a query, by a look at every document.
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
    /// The rank's first document.
    first: u64,
    /// The start of each term's list, and the end of the last.
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

fn add(value: &mut [u64], other: &[u64]) {
    for (sum, word) in value.iter_mut().zip(other) {
        *sum = sum.wrapping_add(*word);
    }
}

/// The intersection of two sorted lists, and how many of their elements were read.
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
    fn intersections_have_the_common_elements() {
        assert_eq!(intersect(&[1, 3, 5, 9], &[2, 3, 9, 10]), (vec![3, 9], 7));
        assert_eq!(intersect(&[], &[1]), (vec![], 0));
        assert_eq!(intersect(&[4, 5], &[1, 2]), (vec![], 2));
    }
}
