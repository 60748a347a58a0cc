"""What several test folders share: servers to test against and guards around every test."""
