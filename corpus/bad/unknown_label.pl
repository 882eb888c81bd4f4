// run: eval
goto nowhere;
