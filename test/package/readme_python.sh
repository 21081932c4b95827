# Checks that the README's Python program finds the same class as executor_runner.
. "$(dirname "$0")/common.sh"
cd "$readme" && PYTHONPATH=$BUILD/python expect "class $(demo_class)" "$PYTHON" classify.py
