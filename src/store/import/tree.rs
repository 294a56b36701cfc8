//! A tree whose nodes name each other in some file, made into a conversation. Nodes that say nothing give their place to what
//! stands on them.

use std::collections::{HashMap, HashSet};

use crate::domain::conversation::Answer;
use crate::domain::{Conversation, MessageId, Role};

/// A node.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) parent: Option<String>,
    pub(super) children: Vec<String>,
    /// Who says what, and when; `None` for a node that is only a place.
    pub(super) said: Option<(Role, String, i64)>,
    /// The name of the model that said it.
    pub(super) model: Option<String>,
}

/// A fault of a tree: the node, and what is wrong with it.
pub(super) type Fault = (String, String);

/// Makes a conversation; `shown` is the node at the end of the path that was shown.
///
/// # Errors
/// Where a node names one that is not there, or stands on itself.
pub(super) fn grow(nodes: &HashMap<String, Node>, shown: Option<&str>) -> Result<Conversation, Fault> {
    check(nodes)?;
    let mut talk = Conversation::default();
    let mut places: HashMap<&str, Option<MessageId>> = HashMap::new();
    let mut roots: Vec<&String> = nodes
        .iter()
        .filter(|(_, node)| node.parent.is_none())
        .map(|(name, _)| name)
        .collect();
    roots.sort();
    let mut waiting: Vec<(&String, Option<MessageId>)> = roots.into_iter().rev().map(|root| (root, None)).collect();
    // Depth first, so that what a node stands on comes before it, and versions in their order.
    while let Some((name, parent)) = waiting.pop() {
        let Some(node) = nodes.get(name) else { continue };
        let place = put(&mut talk, node, parent);
        places.insert(name, place);
        waiting.extend(node.children.iter().rev().map(|child| (child, place)));
    }
    if places.len() < nodes.len() {
        let lost = nodes.keys().find(|name| !places.contains_key(name.as_str()));
        let lost = lost.cloned().unwrap_or_default();
        let why = format!("the node '{lost}' stands on itself");
        return Err((lost, why));
    }
    if let Some(end) = shown.and_then(|name| places.get(name).copied().flatten()) {
        talk.select_exactly(end);
    }
    Ok(talk)
}

/// Says what a node says on `parent`; returns what stands on the node will stand on.
fn put(talk: &mut Conversation, node: &Node, parent: Option<MessageId>) -> Option<MessageId> {
    let Some((role, text, at)) = &node.said else {
        return parent;
    };
    if *role == Role::System && parent.is_none() && talk.system().is_none() {
        talk.set_system(Some(text.clone()));
        return parent;
    }
    talk.stand_on(parent);
    let id = talk.push(*role, text.clone(), *at);
    if let (Some(model), Some(message)) = (&node.model, talk.get_mut(id))
        && *role == Role::Assistant
    {
        message.answer = Some(Answer {
            model_name: model.clone(),
            finish: Some(crate::domain::inference::Finish::EndOfTurn),
            ..Answer::default()
        });
    }
    Some(id)
}

fn check(nodes: &HashMap<String, Node>) -> Result<(), Fault> {
    let mut names: Vec<_> = nodes.iter().collect();
    names.sort_by_key(|(name, _)| *name);
    for (name, node) in &names {
        if let Some(parent) = node.parent.as_ref().filter(|parent| !nodes.contains_key(*parent)) {
            return Err(((*name).clone(), format!("it stands on '{parent}', which is not there")));
        }
    }
    let mut stood_on = HashSet::new();
    for (name, node) in names {
        for child in &node.children {
            match nodes.get(child) {
                None => return Err((name.clone(), format!("'{child}' stands on it, which is not there"))),
                Some(child_node) if child_node.parent.as_ref() != Some(name) => {
                    return Err((child.clone(), format!("it does not stand on '{name}', which says so")));
                }
                Some(_) if !stood_on.insert(child) => {
                    return Err((child.clone(), "it stands there twice".to_owned()));
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}
