"""weft as a package of Conan 2, with Highway, Boost and what components need from the system:

    conan create weft/examples/packages/conan [-o 'weft/*:tbb=True']
"""
from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.scm import Version
from conan.tools.system.package_manager import Apt
from conan.errors import ConanInvalidConfiguration

# The components, and the Debian packages that they need.
COMPONENTS = {"files": "nlohmann-json3-dev", "pictures": "libcairo2-dev", "tbb": "libtbb-dev"}


class Weft(ConanFile):
    name = "weft"
    description = "Attention models in C++20, run as SIMD loops"
    license = "BSD-3-Clause"
    topics = ("attention", "machine-learning", "simd")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    # targets: as WEFT_TARGETS of examples/EMBEDDING.md.
    options = {"shared": [True, False], "fPIC": [True, False], "targets": ["ANY"]}
    options.update({component: [True, False] for component in COMPONENTS})
    default_options = {"shared": False, "fPIC": True, "targets": "", "files": True, "pictures": False, "tbb": False}
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return Path(self.recipe_folder).parents[2]

    def set_version(self):
        project = load(self, self._root / "CMakeLists.txt")
        self.version = project.split("project(weft VERSION ")[1].split()[0]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "lib/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        oldest = {"gcc": "12", "clang": "14"}.get(str(self.settings.compiler))
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"weft needs {self.settings.compiler} {oldest} or later")

    def system_requirements(self):
        wanted = [package for component, package in COMPONENTS.items() if self.options.get_safe(component)]
        Apt(self).install(["libhwy-dev", "libboost-dev", *wanted], check=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({"WEFT_TESTS": "OFF", "WEFT_EXAMPLES": "OFF", "WEFT_MPI": "OFF"})
        toolchain.cache_variables["WEFT_TARGETS"] = str(self.options.targets)
        for component in COMPONENTS:
            wanted = bool(self.options.get_safe(component))
            toolchain.cache_variables["WEFT_" + component.upper()] = "ON" if wanted else "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        CMake(self).install()

    # Its own files for find_package, which have weft_add_model.
    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/weft"]
