words cat dog bird catbird dogfish horse mouse rat bat
pattern cat|dog|bird
pattern (rat|bat|cat)(bird)?
pattern (m|h)o(u|r)se
