# CPack's configuration of the Debian package: `./dev package` has put the tree together and says in
# the environment where, which version and what it needs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ratchet)
set(CPACK_PACKAGE_VERSION $ENV{RATCHET_VERSION})
set(CPACK_PACKAGE_VENDOR "The ratchet authors")
set(CPACK_PACKAGE_CONTACT "The ratchet authors <ratchet@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "MCP server for agents that optimize compute kernels")
set(CPACK_PACKAGE_DESCRIPTION
    "Builds, checks, times and profiles every version of a kernel itself, and records what happened.
Speaks the Model Context Protocol over stdio and HTTP. Kernels in C++ need g++, references and kernels
in Python need NumPy; GPUs need their driver, and nvcc or NVRTC.")
set(CPACK_INSTALLED_DIRECTORIES $ENV{RATCHET_TREE} /)
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_OUTPUT_CONFIG_FILE $ENV{RATCHET_DIST}/CPackConfig.cmake)
set(CPACK_PACKAGE_DIRECTORY $ENV{RATCHET_DIST})
set(CPACK_PACKAGE_FILE_NAME ratchet)  # of what it makes on the way
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "$ENV{RATCHET_DEPENDS}, passwd")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, python3-numpy")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/postinst
    ${CMAKE_CURRENT_LIST_DIR}/debian/prerm ${CMAKE_CURRENT_LIST_DIR}/debian/postrm)
