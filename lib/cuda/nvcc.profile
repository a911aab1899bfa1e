TOP                 = $(_HERE_)/..
NVVMIR_LIBRARY_DIR  = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH    += $(TOP)/lib:
PATH               += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES           +=  "-I$(TOP)/include" $(_SPACE_)
LIBRARIES          =+ $(_SPACE_) "-L$(TOP)/lib64/stubs" "-L$(TOP)/lib64"
CUDAFE_FLAGS       +=
PTXAS_FLAGS        +=
