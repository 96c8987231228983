"""usage: make_recording.py FILE ROWS"""

import sys

import recording

recording.write(sys.argv[1], int(sys.argv[2]))
