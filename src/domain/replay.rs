//! The same answer again: what to ask for it, made of its record alone, and in words what stands in the way of getting it. Asking
//! is for who has an engine.

use super::compaction::{self, Fold};
use super::conversation::{Conversation, Message, MessageId, Take};
use super::inference::{Change, ChatMessage, Finish, GenerateRequest, ModelInfo, Opening, PromptRequest, Token};
use super::role::Role;
use super::sampling::Seed;

/// One request of an answer, to be made again.
#[derive(Clone, Debug, PartialEq)]
pub struct Again {
    /// What to ask.
    pub request: GenerateRequest,
    /// The ids that came of it.
    pub expected: Vec<Token>,
    /// Its record.
    pub take: Take,
}

/// The messages that a model with this fingerprint is given to answer `end`, under this system prompt.
pub fn messages(
    talk: &Conversation,
    end: Option<MessageId>,
    system: Option<&str>,
    fingerprint: &str,
) -> Vec<ChatMessage> {
    let path = talk.path_to(end);
    let fold = Fold::of(&path);
    let summary = fold.map(|fold| path[fold.at].text.as_str());
    let system = compaction::system(system, summary).map(|text| ChatMessage::new(Role::System, text));
    let kept = path[fold.map_or(0, |fold| fold.until)..].iter();
    let said = kept.filter(|message| !message.is_summary()).map(|message| ChatMessage {
        role: message.role,
        content: message.text.clone(),
        thinking: message
            .answer
            .as_ref()
            .map_or_else(String::new, |answer| answer.thinking.text.clone()),
        tokens: own_tokens(message, fingerprint),
    });
    system.into_iter().chain(said).collect()
}

/// The messages that a model with this fingerprint is given to say `answer`: what stands before it, or for a summary what it
/// stands for, and the request to make one.
pub fn question(talk: &Conversation, answer: MessageId, system: Option<&str>, fingerprint: &str) -> Vec<ChatMessage> {
    let Some(message) = talk.get(answer) else {
        return Vec::new();
    };
    if !message.is_summary() {
        return messages(talk, message.parent, system, fingerprint);
    }
    let path = talk.path_to(message.parent);
    let last = compaction::foldable(&path).and_then(|until| path.get(until.checked_sub(1)?));
    let mut messages = messages(talk, last.map(|last| last.id), system, fingerprint);
    compaction::ask_for_one(&mut messages);
    messages
}

/// The ids of an answer that the model with this fingerprint gave.
fn own_tokens(message: &Message, fingerprint: &str) -> Option<Vec<Token>> {
    let answer = message.answer.as_ref()?;
    (answer.model == fingerprint && !answer.tokens.is_empty()).then(|| answer.tokens.clone())
}

/// What to ask for the same answer again, request by request.
///
/// # Errors
/// In words, where the record does not say enough.
pub fn again(talk: &Conversation, id: MessageId) -> Result<Vec<Again>, String> {
    let message = talk.get(id).ok_or("there is no such message")?;
    let answer = message
        .answer
        .as_ref()
        .ok_or("only answers of a model can be made again")?;
    if answer.takes.is_empty() || answer.tokens.is_empty() {
        return Err("this answer has no record to make it again from: it was imported, or said nothing".to_owned());
    }
    let ends = answer.takes.iter().skip(1).map(|take| take.from as usize);
    let ends = ends.chain([answer.tokens.len()]);
    let mut all = Vec::with_capacity(answer.takes.len());
    for (take, end) in answer.takes.iter().zip(ends) {
        let from = take.from as usize;
        let expected = answer
            .tokens
            .get(from..end)
            .ok_or("the record of this answer is damaged")?;
        let last = end == answer.tokens.len();
        let mut settings = take.settings.clone();
        settings.seed = Seed::Fixed(take.seed);
        // What somebody stopped ends there again, by its length.
        let by_itself = last && matches!(answer.finish, Some(finish) if finish != Finish::Stopped);
        let stopped = (!by_itself).then_some(expected.len() as u32);
        let changes = take.changes.iter().cloned().map(|(at, mut change)| {
            // Who changed the seed as well drew from another one from there on.
            if let Change::Settings(settings) = &mut change
                && settings.seed == take.settings.seed
            {
                settings.seed = Seed::Fixed(take.seed);
            }
            (at, change)
        });
        all.push(Again {
            request: GenerateRequest {
                prompt: PromptRequest {
                    messages: question(talk, id, take.system.as_deref(), &take.model),
                    opening: Opening {
                        text: take.opening.clone(),
                        said: answer.tokens[..from].to_vec(),
                    },
                    thinking: take.thinking,
                    overflow: take.overflow,
                    max_tokens: stopped.or(take.max_tokens),
                },
                sampling: settings,
                thinking_budget: take.thinking_budget,
                report: false,
                changes: changes.collect(),
            },
            expected: expected.to_vec(),
            take: take.clone(),
        });
    }
    Ok(all)
}

/// What of this model is not as it was when the answer was made, in words.
pub fn differences(take: &Take, model: &ModelInfo) -> Vec<String> {
    let mut words = Vec::new();
    if take.model != model.fingerprint {
        let short = |fingerprint: &str| fingerprint.chars().take(12).collect::<String>();
        words.push(format!(
            "the model is another: fingerprint {} then, {} now",
            short(&take.model),
            short(&model.fingerprint)
        ));
    }
    let parts = |build: &str| build.split("; ").map(str::to_owned).collect::<Vec<_>>();
    let (then, now) = (parts(&take.build), parts(&model.build));
    let only = |of: &[String], other: &[String]| {
        let own = of.iter().filter(|part| !other.contains(part));
        own.cloned().collect::<Vec<_>>().join(", ")
    };
    let (gone, new) = (only(&then, &now), only(&now, &then));
    if !(gone.is_empty() && new.is_empty()) {
        let none = |words: String| if words.is_empty() { "nothing".to_owned() } else { words };
        words.push(format!(
            "what computes is another: {} then, {} now",
            none(gone),
            none(new)
        ));
    }
    if take.template != model.template_digest {
        words.push("the chat template is another".to_owned());
    }
    words
}

/// What came of asking again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Tokens that are the same, from the first on.
    pub same: usize,
    /// Tokens that there were.
    pub expected: usize,
    /// Tokens that came.
    pub came: usize,
    /// What was not as it was, in words.
    pub differences: Vec<String>,
}

impl Outcome {
    /// Compares the ids that came of a request. `prompt` is the digest of the prompt that was made.
    pub fn of(again: &Again, came: &[Token], prompt: &str, model: &ModelInfo) -> Self {
        let same = again.expected.iter().zip(came).take_while(|(a, b)| a == b).count();
        let mut differences = differences(&again.take, model);
        if !again.take.prompt.is_empty() && again.take.prompt != prompt {
            differences.push("the prompt is another: its tokens are not those that were read then".to_owned());
        }
        Self {
            same,
            expected: again.expected.len(),
            came: came.len(),
            differences,
        }
    }

    /// Adds what came of the request after it.
    #[must_use]
    pub fn and(mut self, next: Self) -> Self {
        if self.is_same() {
            self.same += next.same;
        }
        self.expected += next.expected;
        self.came += next.came;
        for words in next.differences {
            if !self.differences.contains(&words) {
                self.differences.push(words);
            }
        }
        self
    }

    /// Whether the same ids came.
    pub fn is_same(&self) -> bool {
        self.same == self.expected && self.came == self.expected
    }

    /// What to tell the person.
    pub fn words(&self) -> String {
        if self.is_same() {
            return match self.expected {
                1 => "the same token came again".to_owned(),
                many => format!("the same {many} tokens came again"),
            };
        }
        let why = if self.differences.is_empty() {
            "the model, what computes, the template and the settings are the same; the last bits of the numbers may not be, \
             since another part of the prompt was in the KV cache"
                .to_owned()
        } else {
            self.differences.join("; ")
        };
        format!(
            "another answer came: {} of {} tokens are the same, then it differs; {why}",
            self.same, self.expected
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Answer;
    use crate::domain::sampling::Sampling;

    fn answered() -> (Conversation, MessageId) {
        let mut talk = Conversation::under(Some("Be another.".to_owned()));
        talk.push(Role::User, "hello", 0);
        let id = talk.push(Role::Assistant, "a b c", 0);
        let take = Take {
            model: "condor".to_owned(),
            build: "llama.cpp 1; gpu layers 0".to_owned(),
            template: "t".to_owned(),
            system: Some("Be kind.".to_owned()),
            seed: 7,
            prompt: "p".to_owned(),
            ..Take::default()
        };
        let tuned = Change::Settings(Box::new(Sampling {
            temperature: 0.1,
            ..Sampling::default()
        }));
        let on = Take {
            from: 2,
            seed: 9,
            changes: vec![(1, tuned)],
            max_tokens: Some(5),
            ..take.clone()
        };
        talk.get_mut(id).unwrap().answer = Some(Answer {
            model: "condor".to_owned(),
            tokens: [1, 2, 3, 4].map(Token).to_vec(),
            finish: Some(Finish::EndOfTurn),
            takes: vec![take, on],
            ..Answer::default()
        });
        (talk, id)
    }

    #[test]
    fn every_request_is_made_again_as_it_was() {
        let (talk, id) = answered();
        let all = again(&talk, id).unwrap();
        assert_eq!(all.len(), 2);
        let first = &all[0].request;
        assert_eq!(first.prompt.messages[0].content, "Be kind.");
        assert_eq!(first.sampling.seed, Seed::Fixed(7));
        assert_eq!(first.prompt.max_tokens, Some(2), "what was stopped ends by its length");
        assert_eq!(all[0].expected, [Token(1), Token(2)]);
        let second = &all[1].request;
        assert_eq!(second.prompt.opening.said, [Token(1), Token(2)]);
        assert_eq!(second.prompt.max_tokens, Some(5));
        assert!(matches!(&second.changes[..], [(1, Change::Settings(s))] if s.seed == Seed::Fixed(9)));
        assert!(again(&talk, MessageId(0)).unwrap_err().contains("only answers"));
    }

    #[test]
    fn what_differs_is_named() {
        let (talk, id) = answered();
        let again = &again(&talk, id).unwrap()[0];
        let model = ModelInfo {
            fingerprint: "condor".to_owned(),
            build: "llama.cpp 1; gpu layers 0".to_owned(),
            template_digest: "t".to_owned(),
            ..ModelInfo::default()
        };
        let same = Outcome::of(again, &[Token(1), Token(2)], "p", &model);
        assert_eq!(same.words(), "the same 2 tokens came again");
        let other = ModelInfo {
            fingerprint: "llama".to_owned(),
            build: "llama.cpp 2; gpu layers 0".to_owned(),
            template_digest: "u".to_owned(),
            ..model
        };
        let words = Outcome::of(again, &[Token(1)], "q", &other).words();
        for part in [
            "1 of 2 tokens",
            "fingerprint condor then, llama now",
            "llama.cpp 1 then, llama.cpp 2 now",
            "the chat template is another",
            "the prompt is another",
        ] {
            assert!(words.contains(part), "no '{part}' in: {words}");
        }
    }
}
