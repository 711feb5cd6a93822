"""The studio: a page on this machine where formulas are found by looking. `prunesymnet studio` opens it.

A search is a process of its own that writes into the folder of a run, and the page watches that folder. So nothing is
lost if the page, the browser or the server ends.

    workspace   the folder that holds everything, and the names of what is in it
    words       what a search does and how it ended, in plain words
    safety      who may ask the server for something
    forms       what a search can be told, as a form: one line for each option
    tables      tables that people bring: read, looked at, and checked
    searches    the record of a search, and what state it is in
    worker      the process of a search
    queue       one search for each core, the others wait
    front       what a search has found so far
    looks       all there is to see of one formula
    notebook    the lines of Python that do the same as a search
    pages       the HTML
    server      the addresses
"""
