package app

import (
	"os"
	"testing"

	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
