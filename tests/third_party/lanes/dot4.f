// Sources of dot4_lanes; paths count from this file.
+incdir+include
rtl/fdpa_pkg.sv
rtl/fdpa_core.sv
# the top module
rtl/dot4_lanes.sv
