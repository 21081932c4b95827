# The README's program in Python finds the class that the runner finds.
. "$(dirname "$0")/common.sh"
cd "$readme" && PYTHONPATH=$BUILD/python expect "class $(demo_class)" "$PYTHON" classify.py
