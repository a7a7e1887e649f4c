"""How much a persona knows: six levels, stated or derived from age, education and occupation (specification, D)."""

from __future__ import annotations

from persimchat.state.persona import Persona

_EDUCATION: tuple[tuple[int, tuple[str, ...]], ...] = (
    (5, ("phd", "ph.d", "doctor", "professor", "habilit")),
    (
        4,
        (
            "master",
            "university",
            "bachelor",
            "college",
            "degree",
            "faculty",
            "engineer",
            "conservatory",
            "polytechnic",
            "graduate",
        ),
    ),
    (2, ("lower secondary", "middle school")),  # before "secondary"
    (
        3,
        (
            "high school",
            "secondary",
            "grammar school",
            "vocational",
            "apprentice",
            "technical",
            "diploma",
            "a-level",
            "lyceum",
        ),
    ),
    (2, ("elementary", "primary", "pupil")),
    (1, ("kindergarten", "preschool", "nursery", "none", "no formal")),
)
_EXPERT_OCCUPATIONS = ("professor", "scientist", "researcher", "surgeon", "physicist", "lecturer")


def derived_level(persona: Persona) -> int:
    """The general knowledge level 0–5 of a persona that states none.

    Education sets the level, an occupation in research raises it by one, and age limits it (thesis, Listing 5.1 gives
    the levels' typical ages: under 4 none, to 7 basic, to 14 elementary, to 17 intermediate). An adult without further
    data is at 3, intermediate.
    """
    education = (persona.characteristic("education") or persona.characteristic("education level") or "").casefold()
    occupation = (persona.characteristic("occupation") or "").casefold()
    level = next((level for level, words in _EDUCATION if any(word in education for word in words)), 3)
    if any(word in occupation for word in _EXPERT_OCCUPATIONS):
        level = min(5, level + 1)
    age = persona.age
    if age is not None:
        cap = 0 if age < 4 else 1 if age < 8 else 2 if age < 15 else 3 if age < 18 else 5
        level = min(level, cap)
    return level


def knowledge_level(persona: Persona) -> int:
    """The persona's overall knowledge level: as stated, else derived."""
    if isinstance(persona.knowledge, int):
        return persona.knowledge
    if isinstance(persona.knowledge, dict) and "overall" in persona.knowledge:
        return persona.knowledge["overall"]
    return derived_level(persona)


def field_levels(persona: Persona) -> dict[str, int]:
    """The levels that the persona states for single fields, without the overall one."""
    if not isinstance(persona.knowledge, dict):
        return {}
    return {field: level for field, level in persona.knowledge.items() if field != "overall"}
