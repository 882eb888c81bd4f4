//! Graph traversals: paths that a tool tells as walks over a graph of places.

use super::read::{Run, plain, state};
use crate::flow::{self, Event};
use crate::value::{items, number, text};
use crate::{Binding, Path, Step};
use serde_json::Value;
use std::collections::HashMap;

impl Run<'_> {
    /// The traversals of a result as paths: the node each walk starts at, then the node each edge leads to.
    pub(super) fn traversals(&self, result: &Value) -> Vec<Path> {
        items(result, "/graphTraversals").iter().filter_map(|walk| self.traversal(result, walk)).collect()
    }

    fn traversal(&self, result: &Value, walk: &Value) -> Option<Path> {
        let graph = match number(walk, "/resultGraphIndex") {
            Some(index) => items(result, "/graphs").get(index as usize)?,
            None => items(self.run, "/graphs").get(number(walk, "/runGraphIndex")? as usize)?,
        };
        let mut nodes: HashMap<&str, &Value> = HashMap::new();
        let mut pending: Vec<&Value> = items(graph, "/nodes").iter().collect();
        while let Some(node) = pending.pop() {
            nodes.insert(text(node, "/id"), node);
            pending.extend(items(node, "/children"));
        }
        let edges: HashMap<&str, &Value> =
            items(graph, "/edges").iter().map(|edge| (text(edge, "/id"), edge)).collect();
        let mut events = Vec::new();
        for step in items(walk, "/edgeTraversals") {
            let edge = edges.get(text(step, "/edgeId"))?;
            if events.is_empty() {
                let start = nodes.get(text(edge, "/sourceNodeId"))?;
                events.push(self.visit(start, "", state(&walk["initialState"])));
            }
            let words =
                [self.message(&step["message"], &Value::Null), self.message(&edge["label"], &Value::Null)];
            let words =
                words.iter().map(|words| plain(words)).find(|words| !words.is_empty()).unwrap_or_default();
            let target = nodes.get(text(edge, "/targetNodeId"))?;
            events.push(self.visit(target, &words, state(&step["finalState"])));
        }
        if events.is_empty() {
            return None;
        }
        let mut path = flow::build(&plain(&self.message(&walk["description"], &Value::Null)), events);
        flow::ends_in_failure(&mut path);
        Some(path.finish())
    }

    fn visit(&self, node: &Value, words: &str, values: Vec<Binding>) -> Event {
        let location = &node["location"];
        let label = [&location["message"], &node["label"]]
            .into_iter()
            .map(|message| plain(&self.message(message, &Value::Null)))
            .find(|words| !words.is_empty());
        let message =
            [words, label.as_deref().unwrap_or_default()].into_iter().find(|words| !words.is_empty());
        let step = Step { location: self.place(location), values, ..Step::default() };
        Event {
            step: step.with_message(message.unwrap_or_default()),
            depth: None,
            function: self.function(location),
        }
    }
}
