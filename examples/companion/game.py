"""A game in ten lines: it talks with an agent over UDP. Start the agents first: see docs/companion.md."""

import json
import socket
import sys

port = int(sys.argv[1]) if len(sys.argv) > 1 else 9091
game = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
game.settimeout(30)


def ask(type, data):
    """Send a message, and wait for its answer."""
    game.sendto(json.dumps({"type": type, "data": data}).encode(), ("127.0.0.1", port))
    return json.loads(game.recv(65535))


assert ask("STARTMESSAGE", {"fork_sim_code": None, "sim_code": "demo"})["status"] == "Success"
said = ask("PROMPTMESSAGE", {"persona_name": "Oda", "user_name": "Petr", "message": "Good morning!"})["data"]
assert said["utt"] and 0 <= said["trust_level"] <= 10 and said["end"] is False
print(f"Oda ({said['emotion']}, trust {said['trust_level']}): {said['utt']}")
