"""A client of each kind, and certificates for TLS."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests._aws.talking import Client

from partita._aws._transport import Limits


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    client = Client(Limits(connect=5, read=5, wait=0.05, connections=1), awaited=request.param)
    yield client
    client.transport.close()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1; its key and the root certificate, which clients trust, are in files next to it."""
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = signed("root", root_key, "root", root_key, x509.BasicConstraints(ca=True, path_length=None))
    server = x509.SubjectAlternativeName(
        [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("dynamodb.example.org")]
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(signed("server", key, "root", root_key, server))
    path.with_suffix(".root").write_bytes(root)
    path.with_suffix(".key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


def signed(
    subject: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> bytes:
    """Return a certificate that is valid today."""
    by, of = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in (issuer, subject))
    day, now = dt.timedelta(days=1), dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(by, of, key.public_key(), x509.random_serial_number(), now - day, now + day)
    certificate = made.add_extension(extension, critical=False).sign(issuer_key, hashes.SHA256())
    return certificate.public_bytes(serialization.Encoding.PEM)


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    return context


@pytest.fixture
def trusting(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate.with_suffix(".root")))
