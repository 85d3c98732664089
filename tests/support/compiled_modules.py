"""A CUDA module alone."""

from pairalign.engines.cuda.build import Defines, ModuleRequest, load_binaries


def load_binary(source: str, defines: Defines, capability: tuple[int, int]) -> bytes:
    """A module's machine code for a device."""
    return load_binaries([ModuleRequest(source, defines)], capability)[0].code
