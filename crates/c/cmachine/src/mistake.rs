//! Wrong rules, one at a time, for the tests that must notice each of them. Nothing else uses them.

/// A mistake that is easy to make in the rules for unknown memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// INIT decides a token again where it was decided already.
    InitIgnoresDone,
    /// A pointer may be to an input object that does not exist.
    AliasWithoutExistence,
    /// A pointer into an array may be beyond its end.
    IndexUnbounded,
    /// What was freed can no longer have been pointed to on entry.
    FreedNoCandidates,
    /// Input memory may point to what the program makes.
    ProgramObjectsCandidates,
    /// A new object is never part of a larger one.
    NoContainers,
    /// A write through a pointer with several targets changes each of them for certain.
    StrongUpdate,
    /// Two pointers into one object are equal.
    EqualIgnoresOffset,
    /// Bounds are judged before lifetime.
    BoundsBeforeLifetime,
    /// Objects may overlap.
    BasesOverlap,
    /// A number is never the address of input memory that nobody has come across.
    NoUndiscovered,
    /// A pointer that nobody has decided is any number.
    TokenIsSymbol,
    /// A pointer stays what it was after one of its bytes was overwritten.
    TagsKept,
    /// A read of a large array does not see writes at unknown places.
    LogIgnoresWrites,
    /// Two reads of unwritten memory at one place may differ.
    LogIgnoresReads,
    /// A move of unknown length goes one byte further.
    RangeTooLong,
}

impl Mistake {
    /// Every mistake.
    pub const ALL: &'static [Mistake] = &[
        Mistake::InitIgnoresDone,
        Mistake::AliasWithoutExistence,
        Mistake::IndexUnbounded,
        Mistake::FreedNoCandidates,
        Mistake::ProgramObjectsCandidates,
        Mistake::NoContainers,
        Mistake::StrongUpdate,
        Mistake::EqualIgnoresOffset,
        Mistake::BoundsBeforeLifetime,
        Mistake::BasesOverlap,
        Mistake::NoUndiscovered,
        Mistake::TokenIsSymbol,
        Mistake::TagsKept,
        Mistake::LogIgnoresWrites,
        Mistake::LogIgnoresReads,
        Mistake::RangeTooLong,
    ];
}
