"""The datapaths of the eight operations, under the file names of golden/operations."""
