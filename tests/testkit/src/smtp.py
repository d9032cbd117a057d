"""An SMTP server that writes each message into a folder, as JSON."""
import asyncio
import json
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

folder, mode, certificate, key = sys.argv[1:5]


class Handler:
    count = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        Handler.count += 1
        path = os.path.join(folder, f"{Handler.count:04}.json")
        message = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "user": session.auth_data.login.decode() if session.auth_data else None,
            "encrypted": server.transport.get_extra_info("cipher") is not None,
            "data": envelope.content.decode("utf-8", "replace"),
        }
        with open(path + ".new", "w") as file:
            json.dump(message, file)
        os.rename(path + ".new", path)
        return "250 OK"


def check(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and data.login == b"shop" and data.password == b"s3cret/+"
    return AuthResult(success=good, handled=False, auth_data=data)


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    def session():
        if mode == "starttls":
            return SMTP(Handler(), tls_context=context, require_starttls=True,
                        authenticator=check, auth_required=True, hostname="localhost")
        if mode == "implicit":
            return SMTP(Handler(), authenticator=check, auth_required=True,
                        auth_require_tls=False, hostname="localhost")
        return SMTP(Handler(), hostname="localhost")

    loop = asyncio.get_running_loop()
    wrapped = context if mode == "implicit" else None
    server = await loop.create_server(session, "127.0.0.1", 0, ssl=wrapped)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
