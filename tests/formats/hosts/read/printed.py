"""What tools print, put together from the code that prints it; each names its source."""

MLNX_QOS = """\
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
\tprio:0 dscp:07,06,05,04,03,02,01,00,
\tprio:3 dscp:31,30,29,28,27,26,25,24,
\tprio:6 dscp:48,
default priority:
Receive buffer size (bytes): 130944,130944,0,0,0,0,0,0,total_size=262016
Cable len: 7
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   1   0   0   0   0  \x20
\tbuffer      0   0   0   1   0   0   0   0  \x20
tc: 0 ratelimit: unlimited, tsa: ets, bw: 50%
\t priority:  0
\t priority:  1
\t priority:  2
\t priority:  4
\t priority:  5
\t priority:  7
tc: 3 ratelimit: unlimited, tsa: ets, bw: 50%
\t priority:  3
tc: 6 ratelimit: 10.0 Gbps, tsa: strict
\t priority:  6
"""
"""Mellanox/mlnx-tools python/mlnx_qos @088fadb (pretty_print), python/dcbnetlink.py (printAppSelector)."""

DCB_APP = '{"default_prio":[0],"dscp_prio":[[26,3],[48,6]]}'
"""iproute2 dcb/dcb_app.c (pmachata/iproute2 @3c3a345, dcb_app_print)."""
DCB_PFC = (
    '{"pfc_cap":8,"macsec_bypass":false,"delay":7,'
    '"prio_pfc":[false,false,false,true,false,false,false,false]}'
)
"""iproute2 dcb/dcb_pfc.c (pmachata/iproute2 @cecd504, dcb_pfc_print); print_on_off is a boolean in JSON."""
DCB_ETS = (
    '{"willing":false,"ets_cap":8,"cbs":false,"tc_bw":[50,0,0,50,0,0,0,0],"pg_bw":[0,0,0,0,0,0,0,0],'
    '"tc_tsa":["ets","strict","strict","ets","strict","strict","strict","strict"],"prio_tc":[0,0,0,3,0,0,6,0],'
    '"reco_tc_bw":[0,0,0,0,0,0,0,0],'
    '"reco_tc_tsa":["strict","strict","strict","strict","strict","strict","strict","strict"],'
    '"reco_prio_tc":[0,0,0,0,0,0,0,0]}'
)
"""iproute2 dcb/dcb_ets.c (pmachata/iproute2 @cecd504, dcb_ets_print)."""
DCB_BUFFER = '{"prio_buffer":[0,0,0,1,0,0,0,0],"buffer_size":[130944,130944,0,0,0,0,0,0],"total_size":262016}'
"""iproute2 dcb/dcb_buffer.c (pmachata/iproute2 @63672e4, dcb_buffer_print)."""
DCB_DCBX = '{"host":true,"ieee":true}'
"""iproute2 dcb/dcb_dcbx.c (iproute2/iproute2 @9ef3210, dcb_dcbx_print): flags that are not set have no key."""

ETHTOOL_PAUSE = "Pause parameters for eth2:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n\n"
"""ethtool netlink/pause.c (pause_reply_cb)."""

MLXCONFIG = """\

Device #1:
----------

Device type:        ConnectX7
Device:             0000:17:00.0

Configurations:                                          Default             Current             Next Boot
*        ROCE_CC_PRIO_MASK_P1                        255                 8                   255
         ROCE_CC_PRIO_MASK_P2                        255                 255                 255
         CNP_DSCP_P1                                 48                  46                  46
         CLAMP_TGT_RATE_AFTER_TIME_INC_P1            True(1)             False(0)            False(0)
         LINK_TYPE_P1                                ETH(2)              ETH(2)              ETH(2)
"""
"""mstflint mlxconfig (printTableHeader, query -e): a star where the next boot differs, words before the number."""
MLXCONFIG_PLAIN = """\
Configurations:                      Next Boot
         ROCE_CC_PRIO_MASK_P1        0xff
         CNP_802P_PRIO_P1            6
"""
"""The same without -e: one column."""
MLXREG = """\
Sending access register...

Field Name                                     | Data
============================================================
roce_adp_retrans_field_select                  | 0x00000001
adaptive_routing_forced_en_field_select        | 0x00000001
selective_repeat_forced_en_field_select        | 0x00000001
roce_adp_retrans_en                            | 0x00000001
roce_tx_window_en                              | 0x00000000
adaptive_routing_forced_en                     | 0x00000001
selective_repeat_forced_en                     | 0x00000000
ack_dscp_force                                 | 0x00000000
============================================================
"""
"""NVIDIA, Adaptive Retransmission: Parameters Control, Sample Usage (docs.nvidia.com), shortened, and with the adaptive
routing that it says cannot be set there as it is where it can, and is on."""

SYSFS = """\
/sys/class/net/eth2/mtu = 9000
/sys/class/net/eth2/speed = 400000
/sys/class/net/eth2/device = 0000:17:00.0
/sys/class/net/eth2/device/driver = mlx5_core
/sys/class/net/eth2/device/vendor = 0x15b3
/sys/class/net/eth2/device/device = 0x1021
/sys/class/net/eth2/device/infiniband = mlx5_0
/sys/class/infiniband/mlx5_0/tc/1/traffic_class = Global tclass=106
/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0 = IB/RoCE v1
/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3 = RoCE v2
/sys/kernel/debug/mlx5/0000:17:00.0/cc_params/rp_ai_rate = 5
/sys/kernel/debug/mlx5/0000:17:00.0/cc_params/np_cnp_dscp = 48
/sys/kernel/debug/mlx5/0000:17:00.0/cc_params/np_cnp_prio_mode = 0
/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos = 106
/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode = RoCE v2
"""
"""Linux Documentation/ABI, drivers/infiniband/hw/mlx5/cong.c @03826bc, core/cma_configfs.c; MLNX_OFED for tc/."""

NCCL_CONF = """\
# A comment, and a variable that is none of ours.
export NCCL_IB_TC=106
NCCL_IB_HCA="=mlx5_0:1,mlx5_1:1"
NCCL_IB_TIMEOUT=22
NCCL_SOCKET_IFNAME=eth
UCX_IB_TRAFFIC_CLASS=auto
OMP_NUM_THREADS=8
"""

NIC_DEVICE = """\
apiVersion: configuration.net.nvidia.com/v1alpha1
kind: NicDevice
metadata: {name: gpu1-1021-mt2244}
spec:
  configuration:
    template:
      numVfs: 0
      linkType: Ethernet
      roceOptimized:
        enabled: true
        qos: {trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: 106}
      rawNvConfig:
        - {name: CNP_DSCP_P1, value: "48"}
status: {node: gpu1}
"""
"""Mellanox/nic-configuration-operator @8bfbeb3: api/v1alpha1 NicDevice."""

LLDP = """\
lldp.eth2.via=LLDP
lldp.eth2.chassis.name=leaf1
lldp.eth2.port.ifname=Ethernet0
lldp.eth2.port.descr=etp1
"""
"""lldpd, lldpctl -f keyvalue."""
