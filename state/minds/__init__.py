"""What minds hold, judge and say."""
