//! Arrays of any length as serde wants them: it knows short ones only.

use crate::outside::Information;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::VecDeque;

pub fn serialize<S: Serializer, T: Serialize, const N: usize>(
    array: &[T; N],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(array)
}

pub fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>, const N: usize>(
    deserializer: D,
) -> Result<[T; N], D::Error> {
    let all = Vec::<T>::deserialize(deserializer)?;
    all.try_into().map_err(|all: Vec<T>| D::Error::invalid_length(all.len(), &"another number"))
}

/// Signals with what the kernel says about them.
pub mod informed {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Informed(i32, #[serde(with = "super")] Information);

    pub fn serialize<S: Serializer>(
        held: &VecDeque<(i32, Information)>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(held.iter().map(|(signal, information)| Informed(*signal, *information)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<VecDeque<(i32, Information)>, D::Error> {
        let all = Vec::<Informed>::deserialize(deserializer)?;
        Ok(all.into_iter().map(|Informed(signal, information)| (signal, information)).collect())
    }
}
