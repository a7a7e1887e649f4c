"""In a real browser: a table is imported on the Personas page, from the choice of the file to saved personas."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from web.conftest import Server, patient

TABLES = {
    "lidé.csv": (
        "Jméno;Věk;Povolání;Bydliště\nEva Malá;31;učitelka;Brno\nIvo Šír;52;řidič;Zlín\n",
        ("Eva Malá", "Ivo Šír"),
    ),
    "people.csv": (
        "name,age,occupation,city\nAnn Lee,31,teacher,Leeds\nBob Ray,52,driver,York\n",
        ("Ann Lee", "Bob Ray"),
    ),
}
UNKNOWN = "Kdo,Kolik\nUna Vale,31\n"


def button(browser: webdriver.Chrome, text: str) -> None:
    """Press the button of this text that is in sight, as soon as it is there."""
    xpath = f"//button[contains(., '{text}')]"

    def press(browser: webdriver.Chrome) -> bool:
        seen = [element for element in browser.find_elements(By.XPATH, xpath) if element.is_displayed()]
        if seen:
            browser.execute_script("arguments[0].click()", seen[-1])
        return bool(seen)

    patient(browser).until(press)


def shown(browser: webdriver.Chrome, text: str) -> None:
    """Wait until the page says it."""
    patient(browser).until(lambda b: text in b.find_element(By.TAG_NAME, "body").text)


def choose_file(browser: webdriver.Chrome, path: Path) -> None:
    """Open the dialog and choose a file in it."""
    patient(browser).until(lambda b: b.execute_script("return window.did_handshake === true"))
    button(browser, "Import")
    shown(browser, "How to read the files")
    browser.find_element(By.CSS_SELECTOR, ".q-dialog input[type=file]").send_keys(str(path))
    shown(browser, path.name)


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_becomes_personas(server: Server, browser: webdriver.Chrome, tmp_path: Path, name: str):
    text, people = TABLES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    browser.get(f"{server.url}/personas")
    choose_file(browser, tmp_path / name)
    shown(browser, f"Columns of {name} (2 rows)")
    button(browser, "Read them")
    shown(browser, "2 personas were read")
    button(browser, "Save selected")
    shown(browser, "2 personas were saved")
    for person in people:
        shown(browser, person)
    saved = [path.read_text(encoding="utf-8") for path in (server.folder / "library/personas").iterdir()]
    assert all(any(f"name: {person}" in one for one in saved) for person in people)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.long
@pytest.mark.proof
def test_what_is_wrong_stands_in_the_dialog_until_it_is_right(
    server: Server, browser: webdriver.Chrome, tmp_path: Path
):
    (tmp_path / "who.csv").write_text(UNKNOWN, encoding="utf-8")
    browser.get(f"{server.url}/personas")
    choose_file(browser, tmp_path / "who.csv")
    button(browser, "Read them")
    shown(browser, "No column is the name")
    (fault,) = browser.find_elements(By.XPATH, "//*[@role='alert'][contains(., 'No column is the name')]")
    inside, below = browser.execute_script(
        "const at = arguments[0].getBoundingClientRect(); return [!!arguments[0].closest('.q-card'), at.bottom]", fault
    )
    assert inside
    assert 0 < below < browser.execute_script("return innerHeight")
