"""The datapaths of the operations, under the file names of golden/operations."""
