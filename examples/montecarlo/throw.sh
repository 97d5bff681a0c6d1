# One thrower with its accidents. Every 9th has no darts at first (code 75), every 45th not even at the second
# attempt; number 13 falls asleep at its first attempt, until the timeout wakes it.
seed=$1
darts=$2
attempt=$3
accidents=0
if [ $((seed % 45)) -eq 0 ]; then
    accidents=2
elif [ $((seed % 9)) -eq 0 ]; then
    accidents=1
fi
if [ "$attempt" -le "$accidents" ]; then
    echo "thrower $seed has no darts at attempt $attempt" >&2
    exit 75
fi
if [ "$seed" -eq 13 ] && [ "$attempt" -eq 1 ]; then
    echo "thrower $seed falls asleep" >&2
    sleep 600
fi
exec awk -f darts.awk -v seed="$seed" -v darts="$darts"
