"""The page behind a real nginx with TLS, by the name of the proxy: token, set-up, a conversation, reload, refusals."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from loopback.server import free_port
from run_files import read_words
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.by import By
from web.companion_worlds import lake
from web.conftest import Server, start_browser
from web.test_companion_browser import TALK, say
from web.test_past_browser import Page
from web.test_setup_browser import START, click, ended, write

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

NAME, TOKEN = "chat.example.org", "a-token-of-the-test"
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
{location}
  }}
}}
"""


def documented(root: Path, upstream: str, path: str = "/") -> str:
    """What docs/web.md tells nginx to do, for the server of the test."""
    text = (root / "docs" / "web.md").read_text(encoding="utf-8").replace("http://127.0.0.1:8080", upstream)
    whole = text.split("```text\nlocation / {\n")[1].split("\n}")[0]
    if path == "/":
        return f"location / {{\n{whole}\n}}"
    others = text.split(f"```text\nlocation {path} {{\n")[1].split("\n```")[0]
    kept = [line for line in whole.splitlines() if "proxy_pass" not in line]
    return "\n".join([f"location {path} {{", others, *kept, "}"])


@pytest.fixture(params=["as documented", "nginx's own Host", "under a path"])
def behind(request: pytest.FixtureRequest, root: Path, tmp_path: Path) -> Iterator[tuple[Server, str]]:
    """A server that a proxy stands before, and the proxy's address."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    openssl = shutil.which("openssl")
    if nginx is None or openssl is None:
        pytest.skip("nginx or openssl is not installed")
    port = free_port()
    folder = tmp_path / "nginx"
    folder.mkdir()
    subject = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*made, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
    asyncio.run(_made(tmp_path / "worlds" / "lake"))
    server = Server(tmp_path, "--name", f"{NAME}:{port}", "--world", "worlds/lake", PERSIMCHAT_TOKEN=TOKEN)
    path = "/people/" if request.param == "under a path" else "/"
    location = documented(root, server.url.partition("/?")[0], path)
    if request.param == "nginx's own Host":
        location = location.replace("proxy_set_header Host $host;", "")
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, location=location), encoding="utf-8")
    proxy = subprocess.Popen([nginx, "-c", folder / "nginx.conf", "-p", folder], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", port)) and time.monotonic() < until:
            time.sleep(0.1)
        yield server, f"https://{NAME}:{port}{path.rstrip('/')}"
    finally:
        proxy.terminate()
        proxy.wait(60)
        server.close()


@pytest.fixture
def far(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    """A browser that finds the proxy by its name, and takes a certificate that nobody has signed."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    more = (f"--host-resolver-rules=MAP {NAME} 127.0.0.1", "--ignore-certificate-errors")
    chrome = start_browser(chromium, driver, tmp_path / "chrome", *more)
    yield chrome
    chrome.quit()


async def _made(folder: Path) -> None:
    async with lake(folder):
        pass


def stays(page: Page, address: str) -> None:
    """No link of a page leads out of what the proxy serves; a new one does until NiceGUI's script has completed it."""

    def leading_out(browser: webdriver.Chrome) -> list[str]:
        links = [link for link in browser.execute_script("return [...document.links].map(link => link.href)") if link]
        return [link for link in links or ["nowhere"] if not link.startswith((f"{address}/", "https://docs."))]

    with suppress(TimeoutException):
        page.wait.until(lambda browser: not leading_out(browser))
    assert leading_out(page.browser) == []


def test_a_conversation_by_name_over_tls(behind: tuple[Server, str], far: webdriver.Chrome) -> None:
    server, address = behind
    page = Page(far)
    far.get(f"{address}/")
    assert "A token is needed" in far.find_element(By.TAG_NAME, "main").text
    far.get(f"{address}/?token={TOKEN}")
    page.wait.until(lambda b: b.find_element(By.XPATH, START))
    assert far.current_url == f"{address}/"
    assert far.get_cookie("persimchat_token")["secure"] is True
    stays(page, address)
    write(far, "Topic", "Tea or coffee?")
    write(far, "Message limit", "9")
    click(far, START)
    page.wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".said .bubble"))
    far.refresh()  # in the middle
    over, folder = ended(far, server.folder), server.folder / "conversations" / far.current_url.rpartition("/run/")[2]
    said = len(read_words(folder))
    assert over["stop_reason"] in ("message_limit", "closed")
    page.wait.until(lambda b: len(b.find_elements(By.CSS_SELECTOR, ".said .bubble")) == said)
    run = far.current_url
    assert run.startswith(f"{address}/run/")
    page.press("More")
    page.wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, "a[download]"))
    stays(page, address)
    got = "const [url, done] = arguments; fetch(url).then(a => a.text().then(text => done([a.status, text.length])))"
    for link in (one.get_attribute("href") for one in far.find_elements(By.CSS_SELECTOR, "a[download]")):
        status, length = far.execute_async_script(got, link)
        assert (status, length > 100) == (200, True), link
    for place in ("runs", "personas", "experiments", "models", "compare", "companion"):
        far.get(f"{address}/{place}")
        page.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
        stays(page, address)
    far.get(f"{address}{TALK}Petr")
    page.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    say(page, "My sister is called Mira.", 1)
    assert far.current_url.startswith(f"{address}/companion")
    port, path = far.execute_script("return location.port"), address.partition(NAME)[2].partition("/")[2]
    context = ssl.create_default_context(cafile=str(server.folder / "nginx" / "cert.pem"))
    context.check_hostname = False
    with httpx.Client(base_url=f"https://127.0.0.1:{port}/{path}", verify=context, trust_env=False) as client:
        own = {"host": NAME, "authorization": f"Bearer {TOKEN}"}
        assert json.loads(client.get("/api/health", headers={"host": NAME}).text) == {"status": "ok"}
        assert client.get("/api/runs", headers=own).status_code == 200
        assert client.get("/api/runs", headers={**own, "origin": "https://evil.example"}).status_code == 403
        assert client.get("/api/runs", headers={"host": NAME}).status_code == 403
