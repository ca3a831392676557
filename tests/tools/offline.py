"""Refuse every way to the network: imported by the tests, and run in the kernels of the notebooks.

An audit hook cannot be taken out again. Python calls it for each connection and for each name to
resolve, whichever library asks.
"""

import sys

HOST_IN = {
    "socket.connect": lambda socket, address: address,
    "socket.sendto": lambda socket, address: address,
    "socket.getaddrinfo": lambda host, *more: (host,),
    "socket.gethostbyname": lambda host: (host,),
}
HERE = ("127.", "::1", "localhost")


class NetworkError(RuntimeError):
    """Something has asked for the network; no OSError, which many would take for a bad line."""


def refuse(event, arguments):
    if event in HOST_IN:
        address = HOST_IN[event](*arguments)
        if isinstance(address, tuple) and not str(address[0] or "localhost").startswith(HERE):
            raise NetworkError(f"Nothing here may use the network, and this asks for {address!r}.")


sys.addaudithook(refuse)
