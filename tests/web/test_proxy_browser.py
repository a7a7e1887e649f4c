"""The page behind a real nginx with TLS, by the name of the proxy: token, set-up, a conversation, reload, refusals."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from loopback.server import free_port
from selenium import webdriver
from selenium.webdriver.common.by import By
from web.conftest import Server, patient, start_browser
from web.test_setup_browser import START, click, ended, write

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

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
    location / {{
{location}
    }}
  }}
}}
"""


def documented(root: Path, upstream: str) -> str:
    """What docs/web.md tells nginx to do, for the server of the test."""
    text = (root / "docs" / "web.md").read_text(encoding="utf-8")
    inside = text.split("location / {\n")[1].split("\n}")[0]
    return inside.replace("http://127.0.0.1:8080", upstream)


@pytest.fixture(params=["as documented", "nginx's own Host"])
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
    server = Server(tmp_path, "--name", f"{NAME}:{port}", PERSIMCHAT_TOKEN=TOKEN)
    location = documented(root, server.url.partition("/?")[0])
    if request.param != "as documented":
        location = location.replace("proxy_set_header Host $host;", "")
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, location=location), encoding="utf-8")
    proxy = subprocess.Popen([nginx, "-c", folder / "nginx.conf", "-p", folder], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", port)) and time.monotonic() < until:
            time.sleep(0.1)
        yield server, f"https://{NAME}:{port}"
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


def test_a_conversation_by_name_over_tls(behind: tuple[Server, str], far: webdriver.Chrome) -> None:
    server, address = behind
    far.get(address)
    assert "A token is needed" in far.find_element(By.TAG_NAME, "body").text
    far.get(f"{address}/?token={TOKEN}")
    patient(far).until(lambda b: b.find_element(By.XPATH, START))
    assert TOKEN not in far.current_url
    assert far.get_cookie("persimchat_token")["secure"] is True
    write(far, "Topic", "Tea or coffee?")
    write(far, "Message limit", "3")
    click(far, START)
    assert ended(far, server.folder)["stop_reason"] == "message_limit"
    far.refresh()
    patient(far).until(lambda b: len(b.find_elements(By.CSS_SELECTOR, ".said .bubble")) == 3)
    port = address.rpartition(":")[2]
    context = ssl.create_default_context(cafile=str(server.folder / "nginx" / "cert.pem"))
    context.check_hostname = False
    with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=context, trust_env=False) as client:
        own = {"host": NAME, "authorization": f"Bearer {TOKEN}"}
        assert json.loads(client.get("/api/health", headers={"host": NAME}).text) == {"status": "ok"}
        assert client.get("/api/runs", headers=own).status_code == 200
        assert client.get("/api/runs", headers={**own, "origin": "https://evil.example"}).status_code == 403
        assert client.get("/api/runs", headers={"host": NAME}).status_code == 403
