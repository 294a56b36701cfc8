//! How a parameter moves by a key: the range worth going through, narrower than what is accepted, and the steps. Taste, gathered
//! from how people set these values; any value that is accepted can still be typed.

use super::parameter::{Kind, Parameter, Value};
use super::{Refused, Sampling, Seed};

/// The range of a slider and its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slider {
    /// Where it begins.
    pub min: f32,
    /// Where it ends.
    pub max: f32,
    /// A small step.
    pub fine: f32,
    /// A large one.
    pub coarse: f32,
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A small step down.
    Down,
    /// A small step up.
    Up,
    /// A large step down.
    FarDown,
    /// A large step up.
    FarUp,
}

impl Step {
    /// Its length, the sign being its direction.
    fn of(self, slider: Slider) -> f32 {
        match self {
            Self::Down => -slider.fine,
            Self::Up => slider.fine,
            Self::FarDown => -slider.coarse,
            Self::FarUp => slider.coarse,
        }
    }

    fn is_up(self) -> bool {
        matches!(self, Self::Up | Self::FarUp)
    }
}

impl Parameter {
    /// The slider of a parameter that is a number.
    pub fn slider(&self) -> Option<Slider> {
        let (min, max, fine, coarse) = match self.name {
            "temperature" | "dynatemp-range" | "dry-multiplier" => (0.0, 2.0, 0.05, 0.25),
            "top-k" => (0.0, 200.0, 1.0, 10.0),
            "top-p" | "typical-p" | "xtc-probability" | "mirostat-eta" => (0.0, 1.0, 0.01, 0.1),
            "min-p" | "xtc-threshold" => (0.0, 0.5, 0.01, 0.05),
            "top-n-sigma" => (-1.0, 5.0, 0.1, 1.0),
            "repeat-penalty" => (0.8, 1.5, 0.01, 0.05),
            "frequency-penalty" | "presence-penalty" => (-2.0, 2.0, 0.05, 0.25),
            "repeat-last-n" => (0.0, 512.0, 8.0, 64.0),
            "dry-base" => (1.0, 4.0, 0.05, 0.25),
            "dry-allowed-length" | "min-keep" => (0.0, 20.0, 1.0, 5.0),
            "dry-last-n" => (0.0, 1024.0, 16.0, 128.0),
            "dynatemp-exponent" => (0.0, 3.0, 0.1, 0.5),
            "mirostat" => (0.0, 2.0, 1.0, 1.0),
            "mirostat-tau" => (0.0, 10.0, 0.1, 1.0),
            "adaptive-target" => (-1.0, 1.0, 0.05, 0.25),
            "adaptive-decay" => (0.0, 0.99, 0.01, 0.1),
            _ => return None,
        };
        Some(Slider { min, max, fine, coarse })
    }

    /// Where on its slider the value stands, from 0 to 1; `None` where there is none.
    pub fn share(&self, settings: &Sampling) -> Option<f32> {
        let Slider { min, max, .. } = self.slider()?;
        let value = match self.get(settings) {
            Value::Real(x) => x,
            Value::Whole(n) => n as f32,
            _ => return None,
        };
        Some(((value - min) / (max - min)).clamp(0.0, 1.0))
    }

    /// Goes a step; a switch turns, a seed counts on. What is at its end stays there, and a text is left alone.
    ///
    /// # Errors
    /// Never, where the table is sound: a step stays within what is accepted.
    pub fn go(&self, settings: &mut Sampling, step: Step) -> Result<(), Refused> {
        let text = match (self.get(settings), self.slider()) {
            (Value::Real(x), Some(slider)) => {
                let Kind::Real { min, max } = self.kind else {
                    return Ok(());
                };
                // To the next multiple of a small step, so that values stay short.
                let next = ((x + step.of(slider)) / slider.fine).round() * slider.fine;
                format!("{:.2}", next.clamp(min, max))
                    .parse::<f32>()
                    .unwrap_or(x)
                    .to_string()
            }
            (Value::Whole(n), Some(slider)) => {
                let Kind::Whole { max } = self.kind else { return Ok(()) };
                (i64::from(n) + step.of(slider) as i64)
                    .clamp(0, i64::from(max))
                    .to_string()
            }
            (Value::Switch(_), _) => step.is_up().to_string(),
            (Value::Seed(Seed::Random), _) if step.is_up() => "0".to_owned(),
            (Value::Seed(Seed::Fixed(0)), _) if !step.is_up() => Seed::Random.to_string(),
            (Value::Seed(Seed::Fixed(seed)), _) if step.is_up() => seed.saturating_add(1).min(Seed::MAX).to_string(),
            (Value::Seed(Seed::Fixed(seed)), _) => seed.saturating_sub(1).to_string(),
            _ => return Ok(()),
        };
        self.set(settings, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PARAMETERS;
    use super::*;

    #[test]
    fn every_number_has_a_slider_within_what_is_accepted() {
        for p in PARAMETERS {
            let slider = p.slider();
            match p.kind {
                Kind::Real { min, max } => {
                    let slider = slider.unwrap();
                    assert!(
                        slider.min >= min && slider.max <= max && slider.fine < slider.coarse,
                        "{}",
                        p.name
                    );
                }
                Kind::Whole { max } => assert!(slider.unwrap().max <= max as f32, "{}", p.name),
                _ => assert_eq!(slider, None, "{}", p.name),
            }
        }
    }

    #[test]
    fn steps_lead_through_the_range_and_stay_in_it() {
        for p in PARAMETERS {
            let mut settings = Sampling::default();
            for step in [Step::FarUp, Step::Up, Step::Down, Step::FarDown] {
                for _ in 0..300 {
                    p.go(&mut settings, step).unwrap();
                }
                assert!(
                    p.share(&settings).is_none_or(|share| (0.0..=1.0).contains(&share)),
                    "{}",
                    p.name
                );
            }
        }
        let mut settings = Sampling::default();
        let temperature = Parameter::find("temperature").unwrap();
        temperature.go(&mut settings, Step::Up).unwrap();
        assert_eq!(temperature.get(&settings).to_string(), "0.85");
        temperature.go(&mut settings, Step::FarUp).unwrap();
        assert_eq!(temperature.get(&settings).to_string(), "1.1");
        let seed = Parameter::find("seed").unwrap();
        seed.go(&mut settings, Step::Up).unwrap();
        assert_eq!(settings.seed, Seed::Fixed(0));
        seed.go(&mut settings, Step::Down).unwrap();
        assert_eq!(settings.seed, Seed::Random);
    }
}
