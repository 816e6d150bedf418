"""Operations: frozen values that know the requests they send and how to read the answers."""
