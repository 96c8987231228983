"""MCAP between this project and the libraries that robots' tools are made of.

Recordings of ours are read by mcap, with and without their index, and by rosbags, which also parses the definitions that the file
brings. Every value is compared with the CSV of the same recording. Theirs are read back, in each compression, encoding and order.
"""

import pathlib
import random
import signal
import struct
import subprocess

import mcap
import numpy
from mcap import reader
from mcap.exceptions import McapError
from mcap.records import Chunk
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, IndexType, Writer
from rosbags.rosbag2 import Reader, StoragePlugin
from rosbags.rosbag2 import Writer as BagWriter
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import harness
from harness import BINARY, ROOT, need, run

TEMPORARY = harness.temporary_folder()
FOLDER = pathlib.Path(TEMPORARY.name)
STORE = get_typestore(Stores.ROS2_HUMBLE)
IMU, FIELD = "sensor_msgs/msg/Imu", "sensor_msgs/msg/MagneticField"
KINDS = {"a": "accelerometer", "m": "magnetometer", "g": "gyroscope"}


def bits(values):
    return struct.pack("<3f", *values)


def samples_of_csv(path):
    """The samples of a canonical CSV by sensor and kind: stamps, and the bits of the axes."""
    lines = path.read_text().splitlines()
    header = lines[0].split(",")
    streams = {(header[column].rsplit(".", 1)[0], KINDS[header[column].rsplit(".", 1)[1][0]]): [] for column in range(1, len(header), 3)}
    for line in lines[1:]:
        fields = line.split(",")
        for column, stream in zip(range(1, len(header), 3), streams.values()):
            if fields[column]:
                stream.append((int(fields[0]), bits(float(field) for field in fields[column:column + 3])))
    return streams


def xyz(vector, scale=1):
    return bits(axis * scale for axis in (vector.x, vector.y, vector.z))


def samples_of_messages(messages):
    """The samples by frame and kind; each message is held against what ROS says about its fields."""
    streams = {}
    for log_time, name, message in messages:
        stamp, frame = message.header.stamp, message.header.frame_id
        need(stamp.sec * 10**9 + stamp.nanosec == log_time, "the stamp", stamp, "is not the log time", log_time)
        if name == FIELD:
            need(not any(message.magnetic_field_covariance), "the covariance of a field", message)
            streams.setdefault((frame, "magnetometer"), []).append((log_time, xyz(message.magnetic_field, 1e6)))
            continue
        need(name == IMU, "a message is", name)
        turn = message.orientation
        need((turn.x, turn.y, turn.z, turn.w) == (0, 0, 0, 1) and message.orientation_covariance[0] == -1, "orientation", message)
        present = 0
        for kind, vector, covariance in (
                ("accelerometer", message.linear_acceleration, message.linear_acceleration_covariance),
                ("gyroscope", message.angular_velocity, message.angular_velocity_covariance)):
            need(not any(covariance[1:]) and covariance[0] in (-1, 0), "covariance", covariance)
            if covariance[0] == 0:
                present += 1
                streams.setdefault((frame, kind), []).append((log_time, xyz(vector)))
            else:
                need((vector.x, vector.y, vector.z) == (0, 0, 0), "a value that is not measured", vector)
        need(present > 0, "a message without a sample at", log_time)
    return streams


def place(entry):
    _, _, message = entry
    return message.log_time, message.channel_id, message.sequence


def check(trace):
    path, csv = FOLDER / f"{trace.stem}.out.mcap", FOLDER / f"{trace.stem}.out.csv"
    for file in (path, csv):
        run("convert", trace, "-o", file, "--force")
    wanted = {key: rows for key, rows in samples_of_csv(csv).items() if rows}

    # mcap, by the index and without it.
    with path.open("rb") as file:
        opened = reader.make_reader(file, validate_crcs=True)
        need(isinstance(opened, reader.SeekingReader), "the file has no index")
        header, summary = opened.get_header(), opened.get_summary()
        need((header.profile, header.library) == ("ros2", "binnacle"), header)
        indexed = [(schema, channel, message) for schema, channel, message in opened.iter_messages()]
    with path.open("rb") as file:
        plain = list(reader.NonSeekingReader(file, validate_crcs=True).iter_messages(log_time_order=False))
    with path.open("rb") as file:
        chunks = [record for record in StreamReader(file, emit_chunks=True, validate_crcs=True).records if isinstance(record, Chunk)]
    need(sorted(map(place, indexed)) == sorted(map(place, plain)), trace, "has other messages by its index")
    times = [message.log_time for _, _, message in plain]
    statistics = summary.statistics
    need((statistics.message_count, statistics.message_start_time, statistics.message_end_time) == (len(plain), min(times), max(times)),
         statistics)
    need(statistics.chunk_count == len(chunks) == len(summary.chunk_indexes), "chunks:", len(chunks), statistics)
    need(all(chunk.compression == "" for chunk in chunks), "a chunk is compressed")
    for number, channel in summary.channels.items():
        own = [message.sequence for _, _, message in plain if message.channel_id == number]
        need(own == list(range(len(own))), channel.topic, "has other sequence numbers")
        need(statistics.channel_message_counts.get(number, 0) == len(own), channel.topic, statistics)
        need(channel.message_encoding == "cdr", channel)
        need(summary.schemas[channel.schema_id].encoding == "ros2msg", channel)
    need(all(index.message_index_length > 0 for index in summary.chunk_indexes), "a chunk has no index of its messages")
    messages = [(message.log_time, schema.name, STORE.deserialize_cdr(message.data, schema.name)) for schema, _, message in plain]
    need(samples_of_messages(messages) == wanted, trace, "differs for mcap")

    # rosbags, by the definitions in the file.
    with Reader(path) as bag:
        need(bag.message_count == len(plain), "rosbags counts", bag.message_count)
        for connection in bag.connections:
            types = get_types_from_msg(connection.msgdef.data, connection.msgtype)
            for name, definition in types.items():
                need(STORE.fielddefs[name][1] == definition[1], name, "is defined as", definition)
            need(connection.topic.endswith("/imu" if connection.msgtype == IMU else "/mag"), connection.topic)
        read = [(stamp, connection.msgtype, STORE.deserialize_cdr(data, connection.msgtype)) for connection, stamp, data in bag.messages()]
    need({key: sorted(rows) for key, rows in samples_of_messages(read).items()} == {key: sorted(rows) for key, rows in wanted.items()},
         trace, "differs for rosbags")
    # And by us, bit for bit.
    back = FOLDER / f"{trace.stem}.back.csv"
    run("convert", path, "-o", back, "--force")
    need({key: rows for key, rows in samples_of_csv(back).items() if rows} == wanted, trace, "differs when it is read back")
    return path, plain, summary


def whole_chunks(path):
    """How many chunks mcap reads of a file without an end."""
    count = 0
    with path.open("rb") as file:
        try:
            for record in StreamReader(file, emit_chunks=True).records:
                count += isinstance(record, Chunk)
            need(False, path, "has an end")
        except (McapError, EOFError):
            return count


golden = sorted((ROOT / "Tests/Golden").glob("*.csv")) + sorted((ROOT / "Tests/Golden").glob("*.evemu"))
need(len(golden) > 5, "there are no golden traces")
for trace in golden:
    check(trace)

# An accelerometer and a gyroscope share a message where they share a stamp, and nowhere else; topics are ROS's.
shared = FOLDER / "shared.csv"
shared.write_text(
    "time_ns,front 1.ax_m_s2,front 1.ay_m_s2,front 1.az_m_s2,front 1.gx_rad_s,front 1.gy_rad_s,front 1.gz_rad_s,"
    "front_1.ax_m_s2,front_1.ay_m_s2,front_1.az_m_s2,9dof.mx_uT,9dof.my_uT,9dof.mz_uT\n"
    "1000000000,0,0,9.81,0.1,0.2,-0.0,1,2,9.5,20,-3,40\n"
    "1500000000,0,0,9.82,,,,,,,,,\n"
    "2000000001,,,,0.3,0.2,0.1,1,2,9.25,,,\n"
    "4000000000,0,1e-40,9.83,0.5,0.25,0.125,,,,21.1,-3.3,40.7\n")
path, plain, summary = check(shared)
topics = {channel.topic: channel.metadata["binnacle.sensor"] for channel in summary.channels.values()}
need(topics == {"/front_1/imu": "front 1", "/front_12/imu": "front_1", "/sensor_9dof/mag": "9dof"}, topics)
need(len(plain) == 4 + 2 + 2, "messages:", len(plain))

# Several chunks; a file that was cut in one has all those before it.
long = FOLDER / "long.csv"
long.write_text("time_ns,a.ax_m_s2,a.ay_m_s2,a.az_m_s2\n" + "".join(f"{i * 10**6},{i % 7},0.5,9.81\n" for i in range(20_000)))
path, plain, summary = check(long)
need(len(summary.chunk_indexes) > 3, "chunks:", len(summary.chunk_indexes))
cut = FOLDER / "cut.mcap"
last = max(index.chunk_start_offset for index in summary.chunk_indexes)
cut.write_bytes(path.read_bytes()[:last + 1000])
chunks = whole_chunks(cut)
need(chunks == len(summary.chunk_indexes) - 1, "of a file that was cut mcap reads", chunks, "chunks")

# After a kill a live recording has every chunk that was written, one a second. Ctrl-C completes it.
configuration = FOLDER / "live.toml"
configuration.write_text('[sensor.box]\nsource = "simulated"\nmodel = "turn"\n')
for stop, name in ((signal.SIGKILL, "killed.mcap"), (signal.SIGINT, "stopped.mcap")):
    path = FOLDER / name
    process = subprocess.Popen([BINARY, "record", "--config", configuration, "-o", path], stderr=subprocess.DEVNULL)
    need(harness.until(lambda path=path: path.exists() and path.stat().st_size > 10_000), "nothing is recorded")
    process.send_signal(stop)
    process.wait(harness.PATIENCE)
    if stop == signal.SIGKILL:
        need(whole_chunks(path) > 0, "a recording that was killed has no chunk")
        continue
    with Reader(path) as bag:
        need({connection.topic for connection in bag.connections} == {"/box/imu", "/box/mag"}, bag.connections)
        need(bag.message_count > 10, "messages:", bag.message_count)
        live = samples_of_messages((stamp, c.msgtype, STORE.deserialize_cdr(data, c.msgtype)) for c, stamp, data in bag.messages())
    need({kind for _, kind in live} >= {"accelerometer", "magnetometer"}, live.keys())

# What the messages cannot hold is refused.
for stamp in (-1, 2**31 * 10**9):
    late = FOLDER / "late.csv"
    late.write_text(f"time_ns,a.ax_m_s2,a.ay_m_s2,a.az_m_s2\n{stamp},0,0,9.81\n{stamp + 10**7},0,0,9.81\n")
    result = run("convert", late, "-o", FOLDER / f"late{stamp}.mcap", status=65)
    need(str(stamp) in result.stderr and ".arrows" in result.stderr, result.stderr)
run("record", "--for", "1s", "--scans", "-o", FOLDER / "scans.mcap", status=64)


# What others write.
TOPICS = {"/imu/data": IMU, "/imu/mag": FIELD, "/odd/imu": IMU}
ROS1 = get_typestore(Stores.ROS1_NOETIC)


def message(store, kind, stamp, frame, values):
    types = store.types
    numbers = {"seq": 7} if store is ROS1 else {}
    time = types["builtin_interfaces/msg/Time"](sec=stamp // 10**9, nanosec=stamp % 10**9)
    header = types["std_msgs/msg/Header"](stamp=time, frame_id=frame, **numbers)
    vector, none = types["geometry_msgs/msg/Vector3"], numpy.zeros(9)
    if kind == FIELD:
        return types[FIELD](header, vector(*values), none)
    return types[IMU](header, types["geometry_msgs/msg/Quaternion"](0, 0, 0, 1), numpy.array([-1.0] + [0] * 8), vector(*values[3:]), none,
                      vector(*values[:3]), none)


def robot():
    """Topics that are logged some time after their stamps and in another order, one of them latched; and the samples in them."""
    chance = random.Random(4)
    logged, wanted = [], {}
    for topic, kind, frame, step, delay in (
            ("/imu/data", IMU, "imu_link", 5, 2), ("/imu/mag", FIELD, "imu_link", 20, 35), ("/odd/imu", IMU, "", 10, 90)):
        sensor = frame or "odd"
        for i in range(10_000 // step):
            stamp = 1_700_000_000 * 10**9 + i * step * 10**6
            values = [chance.uniform(-1, 1) * 1e-5 if kind == FIELD else chance.uniform(-9, 9) for _ in range(6)]
            if kind == FIELD:
                values = [value + 3e-5 for value in values[:3]]
                wanted.setdefault((sensor, "magnetometer"), []).append((stamp, bits(value * 1e6 for value in values)))
            else:
                values[2] = 9.81
                wanted.setdefault((sensor, "accelerometer"), []).append((stamp, bits(values[:3])))
                wanted.setdefault((sensor, "gyroscope"), []).append((stamp, bits(values[3:])))
            logged.append((stamp + delay * 10**6 + chance.randrange(10**6), topic, stamp, frame, values))
    # The message of a latched topic was sent long before the recording, and is logged at its begin.
    latched = 1_699_999_000 * 10**9
    logged.append((0, "/imu/mag", latched, "imu_link", [2e-5, 0.0, 4e-5]))
    wanted["imu_link", "magnetometer"].insert(0, (latched, bits([2e-5 * 1e6, 0.0, 4e-5 * 1e6])))
    logged.sort()
    for i in range(0, len(logged) - 1, 50):
        if logged[i][1] != logged[i + 1][1]:
            logged[i], logged[i + 1] = logged[i + 1], logged[i]
    return logged, wanted


def converted(path, *options):
    csv = FOLDER / "theirs.csv"
    result = run("convert", path, "-o", csv, "--force", *options)
    return {key: rows for key, rows in samples_of_csv(csv).items() if rows}, result.stderr


logged, wanted = robot()
definitions = {kind: STORE.generate_msgdef(kind)[0] for kind in (IMU, FIELD)}
forms = {
    "little": ("cdr", "ros2msg", lambda m, kind: STORE.serialize_cdr(m, kind)),
    "big": ("cdr", "ros2msg", lambda m, kind: STORE.serialize_cdr(m, kind, little_endian=False)),
    "ros1": ("ros1", "ros1msg", lambda m, kind: ROS1.serialize_ros1(m, kind)),
}
for compression in CompressionType:
    for form, (encoding, schema_encoding, serialize) in forms.items():
        for options in ({}, {"chunk_size": 5000}, {"use_chunking": False}, {"index_types": IndexType.NONE, "use_statistics": False}):
            path = FOLDER / "theirs.mcap"
            with path.open("wb") as file:
                writer = Writer(file, compression=compression, enable_crcs=True, **options)
                writer.start("ros1" if form == "ros1" else "ros2", "check")
                channels = {}
                for topic, kind in TOPICS.items():
                    name = kind.replace("/msg/", "/") if form == "ros1" else kind
                    schema = writer.register_schema(name, schema_encoding, definitions[kind].encode())
                    channels[topic] = writer.register_channel(topic, encoding, schema, {"x": "y"})
                other = writer.register_channel("/rosout", "json", 0)
                writer.add_attachment(1, 1, "note.txt", "text/plain", b"a" * 1000)
                writer.add_metadata("m", {"k": "v"})
                for sequence, (log, topic, stamp, frame, values) in enumerate(logged):
                    store = ROS1 if form == "ros1" else STORE
                    data = serialize(message(store, TOPICS[topic], stamp, frame, values), TOPICS[topic])
                    writer.add_message(channels[topic], log, bytes(data), log, sequence)
                    if sequence % 100 == 0:
                        writer.add_message(other, log, b"{}", log)
                writer.finish()
            if compression == CompressionType.LZ4 and options.get("use_chunking", True):
                refused = run("convert", path, "-o", FOLDER / "theirs.csv", "--force", status=65).stderr
                need("lz4" in refused and "mcap decompress" in refused, refused)
                continue
            if (compression, form) == (CompressionType.NONE, "little") and "chunk_size" in options:
                whole = path.read_bytes()
            found, said = converted(path)
            need(found == wanted, compression, form, options, "differs", {key: len(rows) for key, rows in found.items()}, said)

# A bag of rosbag2 is a folder.
bag = FOLDER / "bag"
with BagWriter(bag, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
    connections = {topic: writer.add_connection(topic, kind, typestore=STORE) for topic, kind in TOPICS.items()}
    for log, topic, stamp, frame, values in logged:
        writer.write(connections[topic], log, STORE.serialize_cdr(message(STORE, TOPICS[topic], stamp, frame, values), TOPICS[topic]))
found, said = converted(bag)
need(found == wanted and "left out: metadata.yaml" in said, "a bag differs", said)

# A pipe, a file that was cut, and files with a damaged byte.
piped = subprocess.run([BINARY, "convert", "-", "-o", FOLDER / "theirs.csv", "--force"], input=whole, capture_output=True, timeout=300)
need(piped.returncode == 0 and samples_of_csv(FOLDER / "theirs.csv") == wanted, "a pipe differs", piped.stderr)
(FOLDER / "cut.mcap").write_bytes(whole[:len(whole) // 2])
found, said = converted(FOLDER / "cut.mcap")
need("not written to its end" in said and all(0 < len(found[key]) < len(rows) and found[key] == rows[:len(found[key])]
                                             for key, rows in wanted.items()), "a cut bag", said)
for _ in range(200):
    place = random.randrange(8, len(whole))
    (FOLDER / "damaged.mcap").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1:])
    result = subprocess.run([BINARY, "replay", FOLDER / "damaged.mcap"], capture_output=True, text=True, timeout=300)
    need(result.returncode in (0, 65, 78), "a damaged byte", place, "ends with", result.returncode, result.stderr[-500:])

print(f"MCAP: {harness.needed} checks with mcap {mcap.__version__} and rosbags")
