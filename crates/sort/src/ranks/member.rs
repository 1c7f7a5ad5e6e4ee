//! A rank's way through the sort: it agrees with the others on how keys are divided, exchanges,
//! sorts its range.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::files::input::Inputs;
use crate::files::manifest::ListedFile;
use crate::files::output::Output;
use crate::job::Job;
use crate::passes::exchange::{Exchange, Ports};
use crate::passes::two_pass::two_pass;
use crate::passes::wiring::Run;
use crate::plan::{Exchanging, Plan};
use crate::ranks::account::{Account, settle};
use crate::ranks::division::{Among, Division};
use crate::ranks::listing;
use crate::ranks::planning::Planning;
use crate::ranks::sampling::draw;
use crate::report::{RankReport, Report, SampleCost};
use crate::stages::{Drawn, Tally};

/// A node of the sort.
pub(crate) struct Member<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
    pub inputs: Arc<Inputs>,
    /// Records of all nodes.
    pub total: u64,
    pub ports: Ports,
}

/// What ranks have agreed on.
struct Agreed {
    exchanging: Exchanging,
    division: Division,
    /// Of what this rank does.
    plan: Plan,
    /// What choosing splitters took.
    cost: SampleCost,
}

impl Member<'_> {
    /// Sorts, and gives the output its name when those of all nodes have nothing left to fail but
    /// that.
    pub(crate) async fn sort_to(
        &self,
        output: &mut Output,
        agreement: &mut Agreement,
    ) -> Result<Report, Failure> {
        let node = self.node;
        let (mut report, files) = self.sort(agreement, &Arc::new(output.clone())).await?;
        report.warnings = self.inputs.grown(node).await;
        let all = (report.bytes, files);
        report
            .warnings
            .extend(listing::commit(node, self.job, agreement, output, all).await?);
        Ok(report)
    }

    async fn sort(
        &self,
        agreement: &mut Agreement,
        output: &Arc<Output>,
    ) -> Result<(Report, Vec<ListedFile>), Failure> {
        let (node, job) = (self.node, self.job);
        let planning = Planning::new(node, job, &self.inputs, output);
        let Agreed {
            exchanging,
            division,
            plan,
            cost,
        } = self.agree(agreement, &planning).await?;
        let partitions = division.partitions(&*job.contents, plan.buckets);
        let divided = (division.ranks, partitions);
        let exchange = Exchange::new(node, exchanging, &self.ports, divided).await;
        let read = exchange.read.clone();
        let own = self.inputs.records.unwrap_or(0);
        job.control
            .enter("sort", own * job.contents.record_bytes() as u64);
        let spilling = plan.spilling.expect("a plan of two passes");
        let tally = Tally::default();
        tally.sampled(cost);
        let begin = node.now();
        let run = Run {
            output: Some(output),
            temporary: planning.temporary,
            tally,
            exchange: Some(exchange),
            ..Run::new(node, job, plan, &self.inputs)
        };
        // While records are under way nobody comes to an agreement: a failure is an alarm.
        let mut report = two_pass(&run, spilling).await?;
        let (read_records, read_sum) = read.came();
        let did = RankReport {
            read_records,
            records: report.records,
            bytes: report.bytes,
            checksum: report.checksum,
            seconds: node.seconds(node.now().since(begin)),
            bottleneck: report.bottleneck.to_owned(),
        };
        let account = Account { did, read_sum };
        let ((), accounts) = agreement.with(node, Ok(((), account))).await?;
        settle(&accounts)?;
        report.ranks = accounts.into_iter().map(|account| account.did).collect();
        let (contents, spans) = (&*job.contents, run.tally.spans());
        output.list(node, contents, &spans).await;
        Ok((report, output.listed(contents, &spans)))
    }

    /// How keys are divided, and what this rank does with its own.
    async fn agree(
        &self,
        agreement: &mut Agreement,
        planning: &Planning<'_>,
    ) -> Result<Agreed, Failure> {
        let (node, contents) = (self.node, &*self.job.contents);
        let even = self.total.div_ceil(u64::from(node.nodes()));
        let (exchanging, places) = planning.exchanging(agreement, even, node.nodes()).await?;
        let own = self.inputs.records.unwrap_or(0);
        let drawn = draw(
            node,
            self.job,
            &self.inputs,
            places * own / self.total.max(1),
        )
        .await
        .map(|drawn| {
            let sampled = drawn.sample.positions.len() as u64;
            (drawn, sampled)
        });
        let (Drawn { sample, cost }, sampled) = agreement.with(node, drawn).await?;
        let owners = (0..node.nodes()).map(Some).collect();
        let among = Among {
            contents,
            owners,
            known: None,
        };
        let division = Division::agree(node, agreement, &among, &sample, &sampled).await?;
        let planned = planning
            .prepare(division.records(self.total), &exchanging)
            .await;
        let (plan, _) = agreement.with(node, planned.map(|plan| (plan, ()))).await?;
        Ok(Agreed {
            exchanging,
            division,
            plan,
            cost,
        })
    }
}
