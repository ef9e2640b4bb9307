"""Added to ref.py where the suite's own check judges the answer: check_outputs says what it objects to."""


def check_outputs(inputs, outputs):
    given = {**inputs, **outputs}
    device = next(str(one.device) for one in given.values() if isinstance(one, torch.Tensor))
    try:
        with torch.no_grad():
            given = typed(given, TASK["types"])
            suite = data_suite(device)
            answer = filled(TASK["returns"], given, None)
            good, said = suite.check_implementation(data_of(given, suite), answer)
    except Exception as error:
        raise located(error, SOURCES) from error
    return "" if good else said or "check_implementation refuses the answer"
