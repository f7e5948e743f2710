"""Reports: functions from findings and other results to text, data and pictures; nothing here prints."""
