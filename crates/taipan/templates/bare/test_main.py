from main import greeting


def test_greeting():
    assert greeting([]) == 'Hello, world'
    assert greeting(['Ada', 'Grace']) == 'Hello, Ada and Grace'
