# Copies the data of the programs into the build tree; `data_outputs` lists the copies.
#
# The programs read their data from ../share/ratchet beside bin/, in the build tree as in a bundle:
# kernels' problems and adapters, the skills, the pages for users.
set(data_outputs)
foreach(place kernels/problems kernels/python kernels/cuda skill/skills docs)
  cmake_path(GET place FILENAME folder)
  file(GLOB_RECURSE data_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/${place}
       ${CMAKE_SOURCE_DIR}/${place}/*)
  foreach(file ${data_files})
    if(NOT file MATCHES "__pycache__|^images/")
      set(copy ${CMAKE_BINARY_DIR}/share/ratchet/${folder}/${file})
      add_custom_command(OUTPUT ${copy} DEPENDS ${CMAKE_SOURCE_DIR}/${place}/${file}
        COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/${place}/${file} ${copy}
        COMMENT "Copying ${folder}/${file}" VERBATIM)
      list(APPEND data_outputs ${copy})
    endif()
  endforeach()
endforeach()
