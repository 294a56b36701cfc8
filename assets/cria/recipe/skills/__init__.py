"""What cria learns, one module for each kind of skill."""
